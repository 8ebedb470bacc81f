//! The one place where zarrs learns of our codecs.

use std::sync::Once;

use zarrs::array::codec::api::{Codec, CodecRuntimePluginV3, register_codec_v3};
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::PluginCreateError;

use super::configuration::is_packing;
use super::packing::{FUSED, Packing};
use super::{arrays, bytes};

/// Whether codecs with a name are made by a [`Create`].
type Matches = fn(&str) -> bool;

/// Makes a codec from its metadata.
type Create = fn(&MetadataV3) -> Result<Codec, PluginCreateError>;

/// Registers our codecs with zarrs, once however often it is called.
///
/// They go into the registry that zarrs looks into first, so that they also stand in for codecs of its own: its
/// `fixedscaleoffset` computes something else, and its decompressors inflate whatever they are given to the end.
///
/// Zarr v2 documents become v3 ones before zarrs sees them, and so do the names of their filters.
pub fn register_all() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let codecs: [(Matches, Create); 3] = [
            (|name| name == FUSED || is_packing(name), Packing::create),
            (arrays::knows, arrays::create),
            (bytes::knows, bytes::create),
        ];
        for (matches, create) in codecs {
            register_codec_v3(CodecRuntimePluginV3::new(matches, create));
        }
    });
}
