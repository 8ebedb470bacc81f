//! Shards: the chain of the inner chunks, and that of the index.

use std::num::NonZeroU64;

use zarrs::array::{DataType as ZarrsType, FillValue};
use zarrs::metadata::v3::MetadataV3;

use super::super::chain::Chain;
use super::super::representation::Representation;
use super::super::shard::Sharding;
use super::{Builder, at_least_one};
use crate::metadata::v3::{self, Codec, IndexLocation};

impl Builder<'_> {
    /// The `sharding_indexed` codec of a chain, for what reaches it.
    pub(super) fn sharding(
        &mut self,
        codec: &Codec<'_>,
        shard: Representation,
    ) -> Option<Sharding> {
        let document = codec.sharding.as_ref()?;
        let pointer = &document.chunk_shape.pointer;
        let lengths = at_least_one(&document.chunk_shape.value);
        if lengths.len() != shard.shape.len() {
            let (found, expected) = (lengths.len(), shard.shape.len());
            self.unsound(
                pointer,
                format!("inner chunks of {found} dimensions in a shard of {expected}"),
            );
            return None;
        }
        let divides = |(whole, part): (&NonZeroU64, &NonZeroU64)| whole.get() % part.get() == 0;
        if !shard.shape.iter().zip(&lengths).all(divides) {
            self.unsound(
                pointer,
                "inner chunks that do not fill a shard without a rest",
            );
            return None;
        }
        let grid: Vec<_> = shard
            .shape
            .iter()
            .zip(&lengths)
            .map(|(whole, part)| whole.get() / part.get())
            .collect();
        let inner = Representation::new(lengths, shard.data_type.clone(), shard.fill.clone());
        let inner = self.accept(codec, inner)?;
        let inner = self.chain(&document.codecs, inner)?;
        let (index, index_bytes) = self.index(codec, &document.index_codecs, &grid)?;
        Some(Sharding {
            shard,
            inner,
            index,
            index_bytes,
            index_first: document.index_location == IndexLocation::Start,
            grid,
        })
    }

    /// The chain of a shard's index: offset and length of each inner chunk.
    fn index(
        &mut self,
        codec: &Codec<'_>,
        codecs: &v3::Chain<'_>,
        grid: &[u64],
    ) -> Option<(Chain, u64)> {
        let mut shape = at_least_one(grid);
        shape.extend(NonZeroU64::new(2));
        let numbers =
            ZarrsType::from_metadata(&MetadataV3::new("uint64")).map_err(|error| error.to_string());
        let numbers = self.accept(codec, numbers)?;
        let fill = Ok(FillValue::from(u64::MAX));
        let index = self.accept(codec, Representation::new(shape, numbers, fill))?;
        let chain = self.chain(codecs, index)?;
        let Some(bytes) = chain.encoded_size() else {
            self.unsupported(
                &codecs.node.pointer,
                "an index whose encoded size is not always the same",
            );
            return None;
        };
        Some((chain, bytes))
    }
}
