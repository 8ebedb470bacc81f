//! Chains on slices: blocks through kernels, and through the definitions where a kernel cannot judge.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use super::chain::{BoundCodec, ChainFault, Direction, transform_scalar};
use super::data_type::DataType;
use super::fault::Fault;
use super::kernels::{self, Kernel, Table};
use super::scalar::Scalar;

/// Elements that go through all codecs before the next ones: few enough to stay in the nearest cache.
const BLOCK: usize = 1024;

/// Elements that the definitions do in one go once a kernel has refused a block.
const PART: usize = 32;

/// Elements from which on a table of 65,536 entries is worth building.
const WORTH_A_TABLE: usize = 1 << 15;

/// One element that a chain cannot transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementFault {
    /// The index of the element in the slice.
    pub index: usize,
    /// The element, before the first codec.
    pub value: Scalar,
    /// The index of the codec that failed, in the order of encoding.
    pub codec: usize,
    /// What failed there.
    pub fault: Fault,
}

/// A chain in one direction, ready for slices.
#[derive(Debug)]
pub struct Pass {
    direction: Direction,
    source: DataType,
    target: DataType,
    codecs: Vec<BoundCodec>,
    fast: Fast,
}

/// The fast way through a pass, if there is one.
#[derive(Debug)]
enum Fast {
    Kernels(Vec<Box<dyn Kernel>>),
    /// For sources of up to 16 bits, built at the first slice that is worth it.
    Table(OnceLock<Table>),
    None,
}

impl Pass {
    pub(super) fn compile(
        data_type: DataType,
        codecs: &[BoundCodec],
        direction: Direction,
    ) -> Self {
        let stored = codecs.last().map_or(data_type, BoundCodec::outgoing);
        let (source, target) = match direction {
            Direction::Encode => (data_type, stored),
            Direction::Decode => (stored, data_type),
        };
        let fast = match kernels::select(codecs, direction) {
            // Elements of less than a byte are cleaned of unused bits even where no codec changes them.
            Some(kernels) if source.bits() >= 8 => Fast::Kernels(kernels),
            _ if source.bits() <= 16 => Fast::Table(OnceLock::new()),
            _ => Fast::None,
        };
        Self {
            direction,
            source,
            target,
            codecs: codecs.to_vec(),
            fast,
        }
    }

    /// The type of the elements to transform.
    #[must_use]
    pub const fn source(&self) -> DataType {
        self.source
    }

    /// The type of the transformed elements.
    #[must_use]
    pub const fn target(&self) -> DataType {
        self.target
    }

    /// Transforms the elements of `source` into `target`, both native endian.
    ///
    /// Every element that fails is given to `on_fault`, in order; its place in `target` is filled with zeros. Breaking
    /// there ends the work.
    ///
    /// # Panics
    ///
    /// Where the slices do not hold the same number of whole elements.
    pub fn run(
        &self,
        source: &[u8],
        target: &mut [u8],
        on_fault: &mut dyn FnMut(ElementFault) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (from, to) = (self.source.size(), self.target.size());
        let elements = source.len() / from;
        assert!(
            source.len() == elements * from && target.len() == elements * to,
            "{} bytes of {} cannot become {} bytes of {}",
            source.len(),
            self.source,
            target.len(),
            self.target
        );
        let mut scratch = Scratch::new();
        let mut index = 0;
        let blocks = source
            .chunks(BLOCK * from)
            .zip(target.chunks_mut(BLOCK * to));
        for (source, target) in blocks {
            if !self.fast(source, target, elements, &mut scratch) {
                let parts = source.chunks(PART * from).zip(target.chunks_mut(PART * to));
                for (n, (source, target)) in parts.enumerate() {
                    if !self.fast(source, target, elements, &mut scratch) {
                        self.exact(index + n * PART, source, target, on_fault)?;
                    }
                }
            }
            index += BLOCK;
        }
        ControlFlow::Continue(())
    }

    /// Runs a block through the kernels. False where one refuses it, or there is none.
    fn fast(
        &self,
        source: &[u8],
        target: &mut [u8],
        elements: usize,
        scratch: &mut Scratch,
    ) -> bool {
        match &self.fast {
            Fast::Kernels(kernels) => scratch.run(kernels, source, target),
            Fast::Table(table) if elements >= WORTH_A_TABLE || self.source.bits() <= 8 => {
                let define = |value| transform_scalar(&self.codecs, self.direction, value).ok();
                let table = table.get_or_init(|| Table::build(self.source, self.target, define));
                table.run(source, target)
            }
            Fast::Table(table) => table.get().is_some_and(|table| table.run(source, target)),
            Fast::None => false,
        }
    }

    /// Runs elements through the definitions of the codecs.
    fn exact(
        &self,
        first: usize,
        source: &[u8],
        target: &mut [u8],
        on_fault: &mut dyn FnMut(ElementFault) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let targets = target.chunks_exact_mut(self.target.size());
        for (n, (from, to)) in source
            .chunks_exact(self.source.size())
            .zip(targets)
            .enumerate()
        {
            let value = Scalar::from_ne_bytes(self.source, from);
            match transform_scalar(&self.codecs, self.direction, value) {
                Ok(result) => result.write_ne_bytes(to),
                Err(ChainFault { codec, fault }) => {
                    to.fill(0);
                    on_fault(ElementFault {
                        index: first + n,
                        value,
                        codec,
                        fault,
                    })?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// Room for a block between two kernels.
struct Scratch {
    buffers: [[u8; BLOCK * 8]; 2],
}

impl Scratch {
    const fn new() -> Self {
        Self {
            buffers: [[0; BLOCK * 8]; 2],
        }
    }

    fn run(&mut self, kernels: &[Box<dyn Kernel>], source: &[u8], target: &mut [u8]) -> bool {
        let Some((last, before)) = kernels.split_last() else {
            target.copy_from_slice(source);
            return true;
        };
        // The last kernel tells how many elements the block has.
        let elements = target.len() / last.target_size();
        let [front, back] = &mut self.buffers;
        let (mut front, mut back) = (front, back);
        let mut filled: Option<usize> = None;
        for kernel in before {
            let length = elements * kernel.target_size();
            let from = filled.map_or(source, |n| &front[..n]);
            if !kernel.run(from, &mut back[..length]) {
                return false;
            }
            std::mem::swap(&mut front, &mut back);
            filled = Some(length);
        }
        last.run(filled.map_or(source, |n| &front[..n]), target)
    }
}
