//! The native types that kernels compute in, as elements of byte slices.

use std::fmt::Debug;
use std::ops::{Add, BitOrAssign, Div, Mul, Sub};

use crate::transform::scalar::Scalar;

/// A native number that an element of a [`DataType`](crate::transform::data_type::DataType) is in memory.
pub(super) trait Element:
    Copy + Debug + Default + PartialEq + PartialOrd + Send + Sync + 'static
{
    const SIZE: usize;

    /// Reads the element from exactly [`Element::SIZE`] bytes.
    fn read(bytes: &[u8]) -> Self;

    /// Writes the element to exactly [`Element::SIZE`] bytes.
    fn write(self, bytes: &mut [u8]);

    /// The element with the bits of a scalar of the same type.
    fn of(scalar: Scalar) -> Self {
        let mut bytes = [0; 8];
        scalar.write_ne_bytes(&mut bytes);
        Self::read(&bytes[..Self::SIZE])
    }
}

macro_rules! element {
    ($($native:ty)*) => {$(
        impl Element for $native {
            const SIZE: usize = size_of::<Self>();

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut buffer = [0; size_of::<Self>()];
                buffer.copy_from_slice(bytes);
                Self::from_ne_bytes(buffer)
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}
element!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// float32 or float64.
pub(super) trait Float:
    Element + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;

    /// An integer as wide as the float: flags of that width stay in the lanes of a vector of floats.
    type Flags: Copy + BitOrAssign + From<bool> + PartialEq;

    /// Whether the value is an infinity.
    fn is_infinite(self) -> bool;

    /// Whether the value is neither NaN nor an infinity.
    fn is_finite(self) -> bool;

    /// Whether the value is NaN.
    fn is_nan(self) -> bool;
}

macro_rules! float {
    ($($native:ident $flags:ident)*) => {$(
        impl Float for $native {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            type Flags = $flags;

            #[inline(always)]
            fn is_infinite(self) -> bool {
                self.abs() == $native::INFINITY
            }

            #[inline(always)]
            fn is_finite(self) -> bool {
                self.abs() < $native::INFINITY
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
        }
    )*};
}
float!(f32 u32 f64 u64);

/// Whether any element of a block raised its flag.
#[derive(Clone, Copy)]
pub(super) struct Raised<F: Float>(F::Flags);

impl<F: Float> Raised<F> {
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self(false.into())
    }

    #[inline(always)]
    pub(super) fn raise_if(&mut self, condition: bool) {
        self.0 |= condition.into();
    }

    #[inline(always)]
    pub(super) fn any(self) -> bool {
        self.0 != false.into()
    }
}

/// Walks the elements of two slices side by side.
#[inline(always)]
pub(super) fn transform<S: Element, T: Element>(
    source: &[u8],
    target: &mut [u8],
    mut element: impl FnMut(S) -> T,
) {
    let targets = target.chunks_exact_mut(T::SIZE);
    for (from, to) in source.chunks_exact(S::SIZE).zip(targets) {
        element(S::read(from)).write(to);
    }
}
