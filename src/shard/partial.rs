//! What is known of outputs after some of their elements.

use bytemuck::{Pod, Zeroable};

use crate::error::list;
use crate::plan::PARTIAL_BYTES;
use crate::tensor::room;
use crate::view::checked_len;
use crate::{DType, Error, NanPolicy};

/// What is known of one output after some of its elements: two 64-bit numbers, little-endian wherever they are sent.
///
/// [`merge`](Partial::merge) takes no account of types and options, since they went into the numbers: it is the maximum by
/// `key`, and among equal keys by the lower 63 bits of `place`. So it is associative, commutative and idempotent, and zeros,
/// such as fresh memory has, change nothing.
///
/// | | |
/// |---|---|
/// | `key` | a number in the elements' order, as wide as they are. Unsigned integers and bool: the element. Signed: with the sign bit inverted. Floats: a negative number's bits inverted, a positive one's with the sign bit set; -0 as +0; NaN all ones, or 0 where it is ignored |
/// | `place`, bits 0 to 62 | 0 while no element was seen. Else, of the element's row-major position among those reduced in the whole tensor, 2^63 - 1 - position, or position + 1 where the last of equal maxima wins. 1 in a ReduceMax |
/// | `place`, bit 63 | whether the maximum is a zero and a +0 was among them |
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Partial {
    /// The greatest element's key.
    pub key: u64,
    /// Which of the elements with this key wins, and whether there was a +0.
    pub place: u64,
}

const _: () = assert!(size_of::<Partial>() as u64 == PARTIAL_BYTES, "as plans count them");

/// The bit of `place` that says that a +0 was seen.
const PLUS_ZERO: u64 = 1 << 63;

impl Partial {
    /// What is known of all the elements that either was made of.
    #[must_use]
    pub fn merge(self, other: Partial) -> Partial {
        if self.key != other.key {
            return if self.key > other.key { self } else { other };
        }
        let place = (self.place & !PLUS_ZERO).max(other.place & !PLUS_ZERO);
        Partial { key: self.key, place: place | (self.place | other.place) & PLUS_ZERO }
    }

    /// Whether no element was seen.
    pub fn is_nothing(self) -> bool {
        self.place == 0
    }
}

/// Merges partials with those of the same outputs.
///
/// # Errors
/// [`Error::WrongCount`] if there are more or fewer of them; then nothing was merged.
pub fn merge(known: &mut [Partial], others: &[Partial]) -> Result<(), Error> {
    if known.len() != others.len() {
        return Err(Error::WrongCount { what: "partials", given: others.len(), expected: known.len() });
    }
    known.iter_mut().zip(others).for_each(|(own, &other)| *own = own.merge(other));
    Ok(())
}

/// How elements become keys, and positions places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Rule {
    pub dtype: DType,
    pub nan: NanPolicy,
    /// Whether positions are looked for, and the last of equal maxima wins.
    pub position: Option<Wins>,
}

/// Which of equal maxima wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Wins {
    First,
    Last,
}

impl Rule {
    fn sign(self) -> u64 {
        1 << (8 * self.dtype.bytes() - 1)
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.dtype.bytes())
    }

    /// The bits of +infinity and of the canonical quiet NaN.
    fn infinity_and_nan(self) -> (u64, u64) {
        match self.dtype {
            DType::F32 => (0x7f80_0000, 0x7fc0_0000),
            DType::F16 => (0x7c00, 0x7e00),
            DType::Bf16 => (0x7f80, 0x7fc0),
            DType::F64 => (0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000),
            _ => (u64::MAX, 0),
        }
    }

    fn is_nan(self, bits: u64) -> bool {
        self.dtype.is_float() && bits & !self.sign() > self.infinity_and_nan().0
    }

    /// What is known after the element with these bits, at a position of the whole tensor.
    pub fn partial(self, bits: u64, position: u64) -> Partial {
        let key = match self.dtype {
            _ if self.is_nan(bits) && self.nan == NanPolicy::Ignore => 0,
            _ if self.is_nan(bits) => self.mask(),
            DType::F32 | DType::F16 | DType::Bf16 | DType::F64 => match bits & self.sign() {
                _ if bits == self.sign() => self.sign(),
                0 => bits | self.sign(),
                _ => !bits & self.mask(),
            },
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => bits ^ self.sign(),
            DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => bits,
        };
        let place = match self.position {
            None => 1,
            Some(Wins::First) => i64::MAX as u64 - position,
            Some(Wins::Last) => position + 1,
        };
        let plus_zero = if self.dtype.is_float() && bits == 0 { PLUS_ZERO } else { 0 };
        Partial { key, place: place | plus_zero }
    }

    /// Whether an element of the type can have left this: a key that there is, at some position.
    pub fn is_possible(self, partial: Partial) -> bool {
        partial.place & !PLUS_ZERO > 0 && partial.key <= if self.dtype == DType::Bool { 1 } else { self.mask() }
    }

    /// The maximum's bits; NaN is the canonical one.
    pub fn bits(self, partial: Partial) -> u64 {
        let (key, sign) = (partial.key & self.mask(), self.sign());
        match self.dtype {
            DType::F32 | DType::F16 | DType::Bf16 | DType::F64 => {
                let bits = if key & sign != 0 { key ^ sign } else { !key & self.mask() };
                match bits {
                    _ if self.is_nan(bits) => self.infinity_and_nan().1,
                    0 if partial.place & PLUS_ZERO == 0 => sign,
                    _ => bits,
                }
            }
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => key ^ sign,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => key,
            DType::Bool => u64::from(key != 0),
        }
    }

    /// The winner's position; 0 where nothing but ignored NaNs was seen.
    pub fn position(self, partial: Partial) -> u64 {
        let place = partial.place & !PLUS_ZERO;
        match self.position {
            _ if self.dtype.is_float() && self.nan == NanPolicy::Ignore && partial.key == 0 => 0,
            None => 0,
            Some(Wins::First) => i64::MAX as u64 - place,
            Some(Wins::Last) => place.saturating_sub(1),
        }
    }
}

/// The partials of a box of a reduction's outputs, and what they are partials of. As serde data they have a version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Unchecked", into = "Unchecked"))]
pub struct Partials {
    pub(super) rule: Rule,
    /// The box's first output, and its size along each kept dimension.
    pub(super) begin: Vec<u64>,
    pub(super) shape: Vec<u64>,
    pub(super) records: Vec<Partial>,
}

impl Partials {
    /// A box of outputs of which nothing is known.
    pub(super) fn nothing(rule: Rule, begin: Vec<u64>, shape: Vec<u64>) -> Result<Partials, Error> {
        let len = checked_len(&shape).unwrap_or(u64::MAX);
        let mut records = room("bytes of partials in host memory", len)?;
        records.resize(len as usize, Partial::default());
        Ok(Partials { rule, begin, shape, records })
    }

    /// One for each output of the box, row-major: what is sent.
    pub fn records(&self) -> &[Partial] {
        &self.records
    }

    /// The same, for who merges them elsewhere, such as in a reduction over ranks.
    pub fn records_mut(&mut self) -> &mut [Partial] {
        &mut self.records
    }

    /// Merges the partials of a box of outputs that lies within this one.
    ///
    /// # Errors
    /// [`Error::PartialsDiffer`] if they are of another reduction, or of outputs that are not here; then nothing was merged.
    pub fn merge(&mut self, other: &Partials) -> Result<(), Error> {
        let at = self.place_of(other.rule, &other.begin, &other.shape)?;
        let row = other.shape.last().map_or(1, |&size| size as usize).max(1);
        for (n, others) in other.records.chunks(row).enumerate() {
            let at = place((n * row) as u64, &at, &other.shape, &self.shape) as usize;
            merge(&mut self.records[at..at + others.len()], others)?;
        }
        Ok(())
    }

    /// Where a box of outputs begins within this one.
    pub(super) fn place_of(&self, rule: Rule, begin: &[u64], shape: &[u64]) -> Result<Vec<u64>, Error> {
        let boxes = self.begin.iter().zip(&self.shape).zip(begin.iter().zip(shape));
        let place = |((&own, &size), (&begin, &len)): ((&u64, &u64), (&u64, &u64))| {
            let at = begin.checked_sub(own)?;
            (at.checked_add(len)? <= size).then_some(at)
        };
        let at = { boxes }.map(place).collect::<Option<Vec<u64>>>();
        let fits = self.rule == rule && self.shape.len() == shape.len();
        at.filter(|_| fits)
            .ok_or_else(|| Error::PartialsDiffer { given: rule.of_outputs(begin, shape), expected: self.name() })
    }

    pub(super) fn name(&self) -> String {
        self.rule.of_outputs(&self.begin, &self.shape)
    }
}

impl Rule {
    /// What partials of a box of outputs are called.
    pub(super) fn of_outputs(&self, begin: &[u64], shape: &[u64]) -> String {
        let Rule { dtype, nan, position } = self;
        let what = match position {
            None => "maxima",
            Some(Wins::First) => "first positions",
            Some(Wins::Last) => "last positions",
        };
        format!("{what} of {dtype}, NaN {nan:?}, for outputs {} from {}", list(shape), list(begin))
    }
}

/// Where the n-th element of a box lies in the whole, both row-major.
pub(super) fn place(n: u64, begin: &[u64], shape: &[u64], whole: &[u64]) -> u64 {
    let (mut rest, mut stride, mut place) = (n, 1, 0);
    for d in (0..shape.len()).rev() {
        place += (begin[d] + rest % shape[d]) * stride;
        rest /= shape[d];
        stride *= whole[d];
    }
    place
}

/// The version of partials as data.
#[cfg(feature = "serde")]
const VERSION: u32 = 1;

/// What [`Partials`] are read from and written as.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    version: u32,
    rule: Rule,
    begin: Vec<u64>,
    shape: Vec<u64>,
    records: Vec<Partial>,
}

#[cfg(feature = "serde")]
impl TryFrom<Unchecked> for Partials {
    type Error = Error;

    fn try_from(data: Unchecked) -> Result<Partials, Error> {
        let Unchecked { version, rule, begin, shape, records } = data;
        let differ = |given: String, expected: String| Err(Error::PartialsDiffer { given, expected });
        if version != VERSION {
            return differ(format!("version {version}"), format!("version {VERSION}"));
        }
        let ends = begin.iter().zip(&shape).all(|(begin, size)| begin.checked_add(*size).is_some());
        if begin.len() != shape.len() || !ends {
            return differ(format!("outputs {} from {}", list(&shape), list(&begin)), "a box".into());
        }
        if checked_len(&shape) != Some(records.len() as u64) {
            return differ(format!("{} records", records.len()), format!("those of outputs {}", list(&shape)));
        }
        Ok(Partials { rule, begin, shape, records })
    }
}

#[cfg(feature = "serde")]
impl From<Partials> for Unchecked {
    fn from(Partials { rule, begin, shape, records }: Partials) -> Unchecked {
        Unchecked { version: VERSION, rule, begin, shape, records }
    }
}
