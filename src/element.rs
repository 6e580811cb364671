use half::{bf16, f16};

use crate::DType;

/// A host type that is a tensor's element: `f32`, [`struct@f16`], [`bf16`], `f64`, the integers of 8 to 64 bits, `bool`.
pub trait Element: Bytes + Copy + PartialOrd + Send + Sync + 'static {
    /// The storage type.
    const DTYPE: DType;
    /// What ONNX calls the maximum of nothing: negative infinity, the type's minimum, `false`.
    const LEAST: Self;
    /// The lowest number that is not infinite.
    const LOWEST_FINITE: Self;
    /// The number one, or `true`.
    const ONE: Self;
    /// The canonical quiet NaN, for types that have one.
    const NAN: Option<Self>;

    /// Whether this is NaN, of either sign.
    fn is_nan(self) -> bool {
        false
    }
    /// Whether this is the zero with the sign bit set.
    fn is_negative_zero(self) -> bool {
        false
    }
}

mod sealed {
    /// Elements as bytes, as many as an element takes up. Nobody else can implement it, so `Element` has no more types.
    pub trait Bytes {
        /// Reads the element from the little-endian bytes that it takes up.
        fn read(bytes: &[u8]) -> Self;
        /// Writes the element's little-endian bytes.
        fn write(self, bytes: &mut [u8]);
    }
}
pub(crate) use sealed::Bytes;

macro_rules! little_endian {
    ($type:ty) => {
        impl Bytes for $type {
            fn read(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<Self>()];
                own.copy_from_slice(bytes);
                <$type>::from_le_bytes(own)
            }
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    };
}

macro_rules! float_element {
    ($type:ty, $dtype:ident, $one_bits:expr, $nan_bits:expr) => {
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            const LEAST: Self = <$type>::NEG_INFINITY;
            const LOWEST_FINITE: Self = <$type>::MIN;
            const ONE: Self = <$type>::from_bits($one_bits);
            const NAN: Option<Self> = Some(<$type>::from_bits($nan_bits));

            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }
            fn is_negative_zero(self) -> bool {
                self == <$type>::from_bits(0) && self.is_sign_negative()
            }
        }
        little_endian!($type);
    };
}

macro_rules! integer_element {
    ($type:ty, $dtype:ident) => {
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            const LEAST: Self = <$type>::MIN;
            const LOWEST_FINITE: Self = <$type>::MIN;
            const ONE: Self = 1;
            const NAN: Option<Self> = None;
        }
        little_endian!($type);
    };
}

float_element!(f32, F32, 0x3f80_0000, 0x7fc0_0000);
float_element!(f16, F16, 0x3c00, 0x7e00);
float_element!(bf16, Bf16, 0x3f80, 0x7fc0);
float_element!(f64, F64, 0x3ff0_0000_0000_0000, 0x7ff8_0000_0000_0000);
integer_element!(i8, I8);
integer_element!(i16, I16);
integer_element!(i32, I32);
integer_element!(i64, I64);
integer_element!(u8, U8);
integer_element!(u16, U16);
integer_element!(u32, U32);
integer_element!(u64, U64);

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    const LEAST: Self = false;
    const LOWEST_FINITE: Self = false;
    const ONE: Self = true;
    const NAN: Option<Self> = None;
}

impl Bytes for bool {
    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
    fn write(self, bytes: &mut [u8]) {
        bytes[0] = self.into();
    }
}

/// Elements as little-endian bytes.
pub(crate) fn to_bytes<T: Element>(elements: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(elements)];
    for (bytes, element) in bytes.chunks_exact_mut(size_of::<T>()).zip(elements) {
        element.write(bytes);
    }
    bytes
}

/// Runs `$body` with `$T` standing for the host type of a [`DType`].
macro_rules! with_element_type {
    (@types $dtype:expr, $T:ident, $body:expr, $($variant:ident $type:ty),*) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $T = $type;
                $body
            })*
        }
    };
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::element::with_element_type!(
            @types $dtype, $T, $body,
            F32 f32, F16 half::f16, Bf16 half::bf16, F64 f64,
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, Bool bool
        )
    };
}
pub(crate) use with_element_type;
