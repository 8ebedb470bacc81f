//! Arrays that are open for reading.

use std::borrow::Cow;

use zarrs::storage::byte_range::ByteRange;
use zarrs::storage::{Bytes, ReadableStorage, StorageError, StoreKey};

use super::build;
use super::chain::{Chain, Serializer, unpermute};
use super::error::{ChunkError, Failure, OpenError};
use super::keys::ChunkKeys;
use super::register::register_all;
use super::shard::{RecentIndices, Shard};
use crate::metadata::{v2, v3};
use crate::transform::data_type::DataType;

/// The memory that decoding one chunk may take, unless another bound is set: two buffers of a gibibyte.
const MAX_MEMORY: u64 = 2 << 30;

/// The document of an array, of either version.
#[derive(Clone, Copy, Debug)]
pub enum ArrayDocument<'d, 'v> {
    /// A `zarr.json`.
    V3(&'d v3::Array<'v>),
    /// A `.zarray`.
    V2(&'d v2::Array<'v>),
}

/// An array whose chunks can be decoded.
///
/// Opening reads nothing from the store but what the caller has read already, and checks all that can be checked without
/// a chunk. The array can be shared between threads; each decoding runs in the thread that asks for it.
pub struct OpenArray {
    pub(super) storage: ReadableStorage,
    pub(super) layout: Layout,
    max_memory: u64,
    pub(super) indices: Option<RecentIndices>,
}

/// What is known of an array from its document.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) shape: Vec<u64>,
    pub(super) grid_shape: Vec<u64>,
    pub(super) data_type: String,
    pub(super) element_type: Option<DataType>,
    pub(super) fill: Vec<u8>,
    pub(super) fill_json: String,
    pub(super) fill_is_defined: bool,
    pub(super) keys: ChunkKeys,
    pub(super) chain: Chain,
}

impl OpenArray {
    /// Opens the array at `path` (without slashes at the ends, empty for the root) whose document has been read and is
    /// sound.
    ///
    /// # Errors
    ///
    /// An [`OpenError`] with every problem, where the document asks for what is not read here, or for what cannot be.
    pub fn open(
        storage: ReadableStorage,
        path: &str,
        document: ArrayDocument<'_, '_>,
    ) -> Result<Self, OpenError> {
        register_all();
        let layout = match document {
            ArrayDocument::V3(array) => build::layout(array, path)?,
            ArrayDocument::V2(array) => build::layout_v2(array, path)?,
        };
        Ok(Self {
            storage,
            layout,
            max_memory: MAX_MEMORY,
            indices: None,
        })
    }

    /// Whether an array with this document can be opened.
    ///
    /// # Errors
    ///
    /// As for [`OpenArray::open`].
    pub fn check(document: ArrayDocument<'_, '_>) -> Result<(), OpenError> {
        register_all();
        match document {
            ArrayDocument::V3(array) => build::layout(array, ""),
            ArrayDocument::V2(array) => build::layout_v2(array, ""),
        }
        .map(|_| ())
    }

    /// Sets the memory in bytes that decoding one chunk, or one inner chunk, may take. Chunks beyond it are refused before
    /// anything is allocated for them.
    #[must_use]
    pub const fn with_max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = bytes;
        self
    }

    /// Sets the memory in bytes that is granted to chunks. One that takes more is decoded alone, up to twice as much, and to what a
    /// machine is likely to have.
    #[must_use]
    pub fn with_granted_memory(self, granted: u64) -> Self {
        self.with_max_memory(granted.saturating_mul(2).max(MAX_MEMORY))
    }

    /// Keeps the indices of the shards that were opened last, for callers that open a shard once for each of its pieces. Only for
    /// stores that nobody changes meanwhile: a shard of another length is noticed, and nothing else.
    #[must_use]
    pub fn keeping_indices(mut self) -> Self {
        self.indices = Some(RecentIndices::default());
        self
    }

    /// The bytes that a stored chunk has at most. No codec makes one much larger than its values; a file that is, is no chunk
    /// of this array.
    #[must_use]
    pub const fn longest_stored_chunk(&self) -> u64 {
        const SLACK: u64 = 64 << 20;
        self.chunk_bytes().saturating_mul(2).saturating_add(SLACK)
    }

    /// The lengths of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// The name of the data type in Zarr v3.
    #[must_use]
    pub fn data_type(&self) -> &str {
        &self.layout.data_type
    }

    /// The data type, if it is one of the real numbers that the packing codecs are defined for.
    #[must_use]
    pub const fn element_type(&self) -> Option<DataType> {
        self.layout.element_type
    }

    /// The bytes of an element in memory.
    #[must_use]
    pub const fn element_size(&self) -> usize {
        self.layout.chain.decoded.size
    }

    /// The lengths of a chunk, or of a shard where there are shards.
    #[must_use]
    pub fn chunk_shape(&self) -> Vec<u64> {
        self.layout.chain.decoded.lengths()
    }

    /// The number of chunks along each dimension.
    #[must_use]
    pub fn grid_shape(&self) -> &[u64] {
        &self.layout.grid_shape
    }

    /// The lengths of the pieces that [`OpenArray::open_shard`] lets decode one by one; `None` where chunks are decoded whole.
    #[must_use]
    pub fn inner_chunk_shape(&self) -> Option<Vec<u64>> {
        let (sharding, order) = self.sharding()?;
        Some(unpermute(&sharding.inner.decoded.lengths(), &order))
    }

    /// The value of what was never written, as the bytes of one element, native endian. Missing chunks are this. So are missing
    /// inner chunks, unless a legacy codec stands before the shard, which then decodes the fill as if it were stored.
    #[must_use]
    pub fn fill(&self) -> &[u8] {
        &self.layout.fill
    }

    /// The fill as a v3 document states it, with the digits of the document that was read.
    #[must_use]
    pub fn fill_json(&self) -> &str {
        &self.layout.fill_json
    }

    /// Whether the document states a fill. If not, what was never written is undefined, and read as zeros.
    #[must_use]
    pub const fn fill_is_defined(&self) -> bool {
        self.layout.fill_is_defined
    }

    /// The bytes of a decoded chunk.
    #[must_use]
    pub const fn chunk_bytes(&self) -> u64 {
        self.layout.chain.decoded.bytes
    }

    /// The memory that decoding a chunk takes at most, apart from the chunk as it is stored.
    #[must_use]
    pub fn working_bytes(&self) -> u64 {
        self.layout.chain.working_bytes()
    }

    /// The memory that decoding an inner chunk takes at most, apart from the inner chunk as it is stored; `None` where chunks
    /// are decoded whole.
    #[must_use]
    pub fn inner_working_bytes(&self) -> Option<u64> {
        let (sharding, _) = self.sharding()?;
        let widest = self
            .layout
            .chain
            .arrays
            .iter()
            .map(|stage| stage.decoded.size)
            .max();
        let before =
            sharding.inner.decoded.bytes / sharding.shard.size as u64 * widest.unwrap_or(0) as u64;
        Some(sharding.inner.working_bytes().saturating_add(before))
    }

    /// The index of the chunk that has a key in the store; `None` for what is no key of a chunk in the grid.
    #[must_use]
    pub fn chunk_index(&self, key: &str) -> Option<Vec<u64>> {
        let index = self.layout.keys.index(key, self.layout.shape.len())?;
        let mut places = index.iter().zip(&self.layout.grid_shape);
        places.all(|(n, length)| n < length).then_some(index)
    }

    /// How chunks are named.
    #[must_use]
    pub const fn chunk_keys(&self) -> &ChunkKeys {
        &self.layout.keys
    }

    /// The key of a chunk in the store.
    #[must_use]
    pub fn chunk_key(&self, index: &[u64]) -> String {
        self.layout.keys.key(index)
    }

    /// The bytes that a chunk takes in the store; `None` where it is missing.
    ///
    /// # Errors
    ///
    /// A [`ChunkError`] where the store cannot tell.
    pub fn stored_size(&self, index: &[u64]) -> Result<Option<u64>, ChunkError> {
        let size = self.store_key(index).and_then(|key| self.size(&key));
        size.map_err(|failure| self.error(index, failure))
    }

    /// Decodes a whole chunk, native endian and in C order, with what lies beyond the edge of the array; `None` where it is
    /// missing.
    ///
    /// # Errors
    ///
    /// A [`ChunkError`] where the chunk cannot be read, its bytes are not sound, or it takes more memory than is allowed.
    pub fn decode_chunk(&self, index: &[u64]) -> Result<Option<Vec<u8>>, ChunkError> {
        self.decode(index)
            .map_err(|failure| self.error(index, failure))
    }

    /// Opens the shard that a chunk is, to decode it piece by piece; `None` where it is missing.
    ///
    /// # Errors
    ///
    /// A [`ChunkError`] where [`OpenArray::inner_chunk_shape`] has nothing, or the shard's index cannot be read or is not
    /// sound.
    pub fn open_shard(&self, index: &[u64]) -> Result<Option<Shard<'_>>, ChunkError> {
        let Some((sharding, order)) = self.sharding() else {
            let failure = Failure::unsound("the chunk does not come in pieces");
            return Err(self.error(index, failure));
        };
        Shard::open(self, sharding, order, index)
    }

    fn decode(&self, index: &[u64]) -> Result<Option<Vec<u8>>, Failure> {
        let key = self.store_key(index)?;
        let Some(stored) = self.size(&key)? else {
            return Ok(None);
        };
        if let Some(exact) = self.layout.chain.encoded_size()
            && exact != stored
        {
            return Err(Failure::unsound(format!(
                "{stored} bytes are stored where {exact} are due"
            )));
        }
        self.check_memory(stored, "a stored chunk")?;
        self.check_memory(self.working_bytes(), "decoding a chunk takes memory")?;
        let bytes = self.storage.get(&key).map_err(|error| unreadable(&error))?;
        // The chunk may have gone away since it was asked for its size.
        let Some(bytes) = bytes else { return Ok(None) };
        // Without a copy, since nobody else has these bytes.
        let bytes = Cow::Owned(Vec::from(bytes));
        self.layout.chain.decode(bytes).map(Some)
    }

    /// The sharding of the array and the way its dimensions lie there, if pieces can be decoded by themselves.
    pub(super) fn sharding(&self) -> Option<(&super::shard::Sharding, Vec<usize>)> {
        let chain = &self.layout.chain;
        match &chain.serializer {
            Serializer::Sharding(sharding) if chain.bytes.is_empty() => {
                Some((sharding, chain.order()?))
            }
            _ => None,
        }
    }

    pub(super) const fn chain(&self) -> &Chain {
        &self.layout.chain
    }

    pub(super) fn check_memory(&self, bytes: u64, what: &str) -> Result<(), Failure> {
        if bytes > self.max_memory {
            return Err(Failure::too_large(bytes, self.max_memory, what));
        }
        Ok(())
    }

    pub(super) fn store_key(&self, index: &[u64]) -> Result<StoreKey, Failure> {
        let grid = &self.layout.grid_shape;
        let inside =
            index.len() == grid.len() && index.iter().zip(grid).all(|(at, length)| at < length);
        if !inside {
            return Err(Failure::unsound(format!(
                "there is no such chunk in a grid of {grid:?}"
            )));
        }
        let key = self.chunk_key(index);
        StoreKey::new(key).map_err(Failure::unreadable)
    }

    /// The bytes of a stored chunk; `None` where it is missing.
    ///
    /// The file system store of zarrs says of everything that it cannot look at that it is not there. What may be read is
    /// told from what may not by reading, so that no chunk becomes fill because of a permission.
    pub(super) fn size(&self, key: &StoreKey) -> Result<Option<u64>, Failure> {
        let size = self
            .storage
            .size_key(key)
            .map_err(|error| unreadable(&error))?;
        if size.is_some() {
            return Ok(size);
        }
        let bytes = self.storage.get(key).map_err(|error| unreadable(&error))?;
        Ok(bytes.map(|bytes| bytes.len() as u64))
    }

    pub(super) fn read_range(
        &self,
        key: &StoreKey,
        range: ByteRange,
    ) -> Result<Option<Bytes>, Failure> {
        self.storage
            .get_partial(key, range)
            .map_err(|error| unreadable(&error))
    }

    pub(super) fn error(&self, index: &[u64], failure: Failure) -> ChunkError {
        ChunkError {
            key: self.chunk_key(index),
            chunk: index.to_vec(),
            failure: Box::new(failure),
        }
    }
}

impl std::fmt::Debug for OpenArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenArray")
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

/// An error of the store: nothing is known of the bytes.
fn unreadable(error: &StorageError) -> Failure {
    Failure::unreadable(error)
}
