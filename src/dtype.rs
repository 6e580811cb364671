use std::fmt;

/// A storage type: what the elements of a tensor are.
///
/// Elements are packed little-endian, as ONNX lays them out. Every type works on every device: shaders read raw words
/// and compare integer keys, so no optional GPU feature is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum DType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// IEEE 754 binary64.
    F64,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 8-bit integer.
    U8,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// One byte, 0 or 1; `false < true`. A [`Tensor`](crate::Tensor) of other bytes is refused. Your own buffers are not
    /// checked: if several bytes above 0 are there, devices may differ in which one they return.
    Bool,
}

impl DType {
    /// Every storage type.
    pub const ALL: [DType; 13] = [
        DType::F32,
        DType::F16,
        DType::Bf16,
        DType::F64,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::Bool,
    ];

    /// Bytes of one element.
    pub const fn bytes(self) -> u64 {
        match self {
            DType::I8 | DType::U8 | DType::Bool => 1,
            DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 2,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F64 | DType::I64 | DType::U64 => 8,
        }
    }

    /// Whether the type has NaN, infinities and two zeros.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F16 | DType::Bf16 | DType::F64)
    }

    /// The name, as in Rust: `"f32"`, `"bf16"`, `"bool"`, …
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
            DType::F64 => "f64",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::Bool => "bool",
        }
    }

    /// Words of an order key.
    pub(crate) const fn key_words(self) -> u64 {
        if self.bytes() == 8 { 2 } else { 1 }
    }

    /// Elements that share an output's smallest written unit: a word, or an element of 64 bits.
    pub(crate) const fn lanes(self) -> u64 {
        let bytes = self.bytes();
        if bytes < 4 { 4 / bytes } else { 1 }
    }

    /// Elements of one 16-byte load.
    pub(crate) const fn pack_elements(self) -> u64 {
        16 / self.bytes()
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The bytes that `len` elements take in a buffer: a whole number of words, since a storage binding has no other size.
pub(crate) fn padded_bytes(dtype: DType, len: u64) -> Option<u64> {
    len.checked_mul(dtype.bytes())?.checked_next_multiple_of(4)
}
