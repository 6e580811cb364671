use std::ops::{Range, RangeInclusive};

use crate::DType;

/// What went wrong: what was given, and what was expected.
///
/// No operation panics on bad input. One that fails has recorded nothing, and written nothing but what [`Error::Write`] and
/// streams say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An axis names no dimension.
    #[error("axis {axis} is out of range for rank {rank}: expected {} to {}", expected.start(), expected.end())]
    AxisOutOfRange {
        /// The axis given.
        axis: i64,
        /// The input's number of dimensions, at least 1.
        rank: usize,
        /// The axes that the operator takes there.
        expected: RangeInclusive<i64>,
    },
    /// An axis is given, or the operator needs one, and a tensor of rank 0 has none.
    #[error("{operator} goes along an axis, and a tensor of rank 0 has none")]
    NoAxis {
        /// The operator.
        operator: &'static str,
    },
    /// The same dimension is named twice, counted after negative axes are resolved.
    #[error("axes {} name dimension {dimension} twice", list(axes))]
    RepeatedAxis {
        /// The axes given.
        axes: Vec<i64>,
        /// The dimension.
        dimension: usize,
    },
    /// The maximum of nothing was asked for, and it is not defined there.
    #[error("{operator} over no elements is undefined: shape {}, reduced dimensions {}", list(shape), list(reduced))]
    EmptyReduction {
        /// The operator.
        operator: &'static str,
        /// The input's shape.
        shape: Vec<u64>,
        /// The dimensions reduced.
        reduced: Vec<usize>,
    },
    /// A shape and its strides differ in length.
    #[error("{shape} dimensions but {strides} strides")]
    StrideCount {
        /// Number of dimensions.
        shape: usize,
        /// Number of strides.
        strides: usize,
    },
    /// A view would reach an element before the first of its buffer, or one that no 63-bit number counts, or have more
    /// elements than such a number counts.
    #[error(
        "a view of shape {}, strides {} and offset {offset} leaves the range of elements 0 to 2^63 - 1, or has more of them",
        list(shape),
        list(strides)
    )]
    ViewOutOfRange {
        /// The shape.
        shape: Vec<u64>,
        /// The strides, in elements.
        strides: Vec<i64>,
        /// The first element.
        offset: u64,
    },
    /// The parts of one input differ in more than the size of their first dimension.
    #[error(
        "part {part} has shape {}: all but the first dimension must be as in part 0, {}",
        list(shape),
        list(expected)
    )]
    PartsDiffer {
        /// The part.
        part: usize,
        /// Its shape.
        shape: Vec<u64>,
        /// The shape of part 0.
        expected: Vec<u64>,
    },
    /// A change of a view does not fit its shape.
    #[error("cannot {change} a view of shape {}", list(shape))]
    ViewChange {
        /// What was asked for.
        change: String,
        /// The view's shape.
        shape: Vec<u64>,
    },
    /// Shapes that are to be broadcast together differ where neither has size 1.
    #[error(
        "shape {} of input {input} does not broadcast with {} of those before it: dimension {dimension} of the result",
        list(shape),
        list(common)
    )]
    ShapesDoNotBroadcast {
        /// The input whose shape does not fit.
        input: usize,
        /// Its shape.
        shape: Vec<u64>,
        /// The shape that the inputs before it have together.
        common: Vec<u64>,
        /// The dimension of the result where they differ.
        dimension: usize,
    },
    /// The output cannot take the place of that input.
    #[error("input {input} cannot be written in place: {reason}")]
    NotInPlace {
        /// The input.
        input: usize,
        /// Why not.
        reason: String,
    },
    /// An input cannot be read from another's buffer.
    #[error("input {input} cannot be a view of input {other}: {reason}")]
    NotAViewOf {
        /// The input.
        input: usize,
        /// The input whose buffer it was said to be a view of.
        other: usize,
        /// Why not.
        reason: String,
    },
    /// More than the device, the host's memory, a limit that was set, or this crate's counters can hold.
    #[error("{what}: {given} given, at most {limit} possible")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// How much of it was given.
        given: u64,
        /// How much is possible.
        limit: u64,
    },
    /// A limit of the device is below what any kernel needs.
    #[error("the device's limit {what} is {given}, at least {needed} is needed")]
    DeviceTooSmall {
        /// The limit.
        what: &'static str,
        /// Its value.
        given: u64,
        /// The least that works.
        needed: u64,
    },
    /// A limit that no device has.
    #[error("the limit {what} is {given}, {expected} expected")]
    InvalidLimit {
        /// The limit.
        what: &'static str,
        /// Its value.
        given: u64,
        /// What it may be.
        expected: &'static str,
    },
    /// A number of a [`Tuning`](crate::Tuning) that is out of its range.
    #[error("the tuning's {field} is {given}, {expected} expected")]
    InvalidTuning {
        /// The number.
        field: &'static str,
        /// Its value.
        given: u64,
        /// What it may be.
        expected: String,
    },
    /// A calibration that was made elsewhere.
    #[error("the calibration is of the {what} {given:?}, and this is {expected:?}: calibrate again")]
    StaleCalibration {
        /// What differs: version, adapter, backend, driver or kernels.
        what: &'static str,
        /// Of the calibration.
        given: String,
        /// Of here.
        expected: String,
    },
    /// A plan takes an optional feature that the device has not.
    #[error("the plan takes {feature}, which the device has not")]
    MissingFeature {
        /// wgpu's name of it.
        feature: &'static str,
    },
    /// A plan that this crate did not make, or not like this: its parts do not fit together.
    #[error("the plan contradicts itself: {problem}")]
    InvalidPlan {
        /// What does not fit.
        problem: String,
    },
    /// Another number of buffers, tensors, sources or writers than there are to be.
    #[error("{given} {what} given, {expected} expected")]
    WrongCount {
        /// Inputs, outputs or scratch buffers, for example.
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many there are to be.
        expected: usize,
    },
    /// None of something of which there may be any number but none: inputs of a Max, parts, shards or devices.
    #[error("0 {what} given, at least 1 expected")]
    NoneGiven {
        /// What there is none of.
        what: &'static str,
    },
    /// A binding has fewer bytes than the plan needs there.
    #[error("{slot} has {given} bytes, {needed} are needed")]
    BindingTooSmall {
        /// The slot, such as "input 0".
        slot: String,
        /// Bytes given.
        given: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// A binding's offset in its buffer is not a multiple of the device's storage alignment.
    #[error(
        "{slot} starts at byte {offset} of its buffer, a multiple of {alignment} is needed (a view's offset, in elements, may be anything)"
    )]
    BindingMisaligned {
        /// The slot, such as "input 0".
        slot: String,
        /// The offset given, in bytes.
        offset: u64,
        /// The device's alignment, in bytes.
        alignment: u64,
    },
    /// A buffer that wgpu does not bind: it was destroyed, or it is another device's.
    #[error("{slot} cannot be bound: {message}")]
    BindingRefused {
        /// The slot, such as "input 0", and the operation.
        slot: String,
        /// What wgpu said, the buffer's label among it.
        message: String,
    },
    /// A buffer lacks `BufferUsages::STORAGE`.
    #[error("{slot} is a buffer without the usage STORAGE: it has {given}")]
    BindingUsage {
        /// The slot, such as "input 0", and the operation.
        slot: String,
        /// The usages that it has, such as "COPY_SRC | COPY_DST".
        given: String,
    },
    /// Two inputs share bytes, and a plan of shared buffers binds both in one dispatch.
    #[error(
        "{input} overlaps {other}, {}, in a plan with Limits::shared_buffers: make it one of its views, by Max::view_of",
        of_one_buffer(ranges)
    )]
    InputsOverlap {
        /// The one slot.
        input: String,
        /// The other.
        other: String,
        /// The bytes of their buffer that each needs.
        ranges: [Range<u64>; 2],
    },
    /// Something that is written shares bytes with something else.
    #[error("{written} overlaps {other}, {}", of_one_buffer(ranges))]
    BindingOverlap {
        /// The slot that is written.
        written: String,
        /// The other slot.
        other: String,
        /// The bytes of their buffer that each needs.
        ranges: [Range<u64>; 2],
    },
    /// WebGPU refuses a dispatch that reads and writes one buffer, even at disjoint ranges. Whether a plan has such a
    /// dispatch depends on shapes; so it is refused wherever one could have.
    #[error("{written} is written, and lies in the buffer of {read}: plan with Limits::shared_buffers, or use two")]
    BindingSharesBuffer {
        /// The slot that is written.
        written: String,
        /// The slot that is read.
        read: String,
    },
    /// A tensor's bytes are not what its shape and type ask for.
    #[error("a tensor of shape {} and type {dtype} has {given} bytes, {expected} expected", list(shape))]
    TensorBytes {
        /// The shape.
        shape: Vec<u64>,
        /// The type.
        dtype: DType,
        /// Bytes given.
        given: u64,
        /// Bytes expected.
        expected: u64,
    },
    /// A byte of a bool tensor is neither 0 nor 1.
    #[error("element {element} of a bool tensor is {value}, 0 or 1 expected")]
    BoolValue {
        /// The element, row-major.
        element: u64,
        /// Its byte.
        value: u8,
    },
    /// A tensor is of another type than the operation, or than the elements that it was asked for.
    #[error("{tensor} has type {given}, {expected} expected")]
    TypeMismatch {
        /// Which tensor: such as "input 0", "the constant" or, where there is but one, "the tensor".
        tensor: String,
        /// The type given.
        given: DType,
        /// The type expected.
        expected: DType,
    },
    /// A dialect's operator came with a later operator set than the one asked for.
    #[error("opset {opset} has no {operator}: the first is {first}")]
    UnknownOpset {
        /// The operator.
        operator: &'static str,
        /// The operator set asked for.
        opset: u64,
        /// The first version of the operator.
        first: u64,
    },
    /// A dialect's operator, in this version, does not have the element type.
    #[error("{operator} does not allow type {given}, only {}", join(allowed))]
    TypeNotAllowed {
        /// The dialect, the operator and its version.
        operator: String,
        /// The type given.
        given: DType,
        /// The types that this version allows.
        allowed: &'static [DType],
    },
    /// A dialect's operator, in this version, does not have the attribute.
    #[error("{operator} has no attribute {attribute}, only: {}", join(allowed))]
    AttributeNotAllowed {
        /// The dialect, the operator and its version.
        operator: String,
        /// The attribute given.
        attribute: String,
        /// The attributes that this version has.
        allowed: &'static [&'static str],
    },
    /// An attribute has a value that the operator does not know.
    #[error("{operator}: attribute {attribute} is {given}, {expected} expected")]
    AttributeValue {
        /// The dialect, the operator and its version.
        operator: String,
        /// The attribute.
        attribute: String,
        /// Its value.
        given: String,
        /// What it may be.
        expected: &'static str,
    },
    /// The axes are not given in the form that a dialect's operator takes them in.
    #[error("{operator} takes its axes as {expected}, not as {given}")]
    AxesForm {
        /// The dialect, the operator and its version.
        operator: String,
        /// How they were given.
        given: String,
        /// How they are to be given.
        expected: &'static str,
    },
    /// A negative axis, which this version of a dialect's operator does not know yet.
    #[error("{operator} allows no negative axis, {axis} given")]
    NegativeAxis {
        /// The dialect, the operator and its version.
        operator: String,
        /// The axis given.
        axis: i64,
    },
    /// Inputs of different shapes, in a version of a dialect's operator that does not broadcast.
    #[error(
        "{operator} does not broadcast: input {input} has shape {}, {} expected as of input 0",
        list(shape),
        list(expected)
    )]
    ShapesDiffer {
        /// The dialect, the operator and its version.
        operator: String,
        /// The first input whose shape differs.
        input: usize,
        /// Its shape.
        shape: Vec<u64>,
        /// The shape of input 0.
        expected: Vec<u64>,
    },
    /// An ONNX file is torn, contradicts itself, or asks for what this crate does not do.
    #[error("{place}: {problem}")]
    Onnx {
        /// The part of the file, such as "initializer \"axes\"".
        place: String,
        /// What is wrong there, and what was expected.
        problem: String,
    },
    /// A file of a checkpoint cannot be read, is torn, contradicts itself, or has not what was asked for.
    #[error("{path}: {problem}")]
    File {
        /// The file, or the folder.
        path: String,
        /// What is wrong there, and what was expected.
        problem: String,
    },
    /// A node of an ONNX graph is wrong.
    #[error("node {node}: {error}")]
    Node {
        /// The node: its place in the file, its name if it has one, its operator.
        node: String,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// An operator that cannot be done in pieces, or a Hardmax asked of another operator.
    #[error("{operator} given, {expected} expected")]
    NoReduction {
        /// The operator given.
        operator: &'static str,
        /// What is taken.
        expected: &'static str,
    },
    /// A shard that does not lie within the whole tensor.
    #[error("a shard of shape {} that begins at {} does not lie within {}", list(shape), list(begin), list(whole))]
    ShardOutOfRange {
        /// The shard's first index along each dimension.
        begin: Vec<u64>,
        /// Its shape.
        shape: Vec<u64>,
        /// The whole tensor's shape.
        whole: Vec<u64>,
    },
    /// Partials of another reduction, or of other outputs.
    #[error("partials are {given}, {expected} expected")]
    PartialsDiffer {
        /// What was given.
        given: String,
        /// What was expected.
        expected: String,
    },
    /// Of some output no element was seen yet, or its partial comes from elsewhere.
    #[error("the partial of output {output} is of no element of the tensor: was each shard merged?")]
    PartialsIncomplete {
        /// The first such output, row-major.
        output: u64,
    },
    /// Another number of bytes than the tensor has.
    #[error("{given} bytes of a stream given, {expected} expected")]
    StreamLength {
        /// How many were given.
        given: u64,
        /// How many the tensor has.
        expected: u64,
    },
    /// An operand of a Max that is not streamed: only those of the output's shape are, and constants of one element.
    #[error("operand {operand} of a streamed Max has shape {}, {} expected", list(shape), list(expected))]
    NotStreamed {
        /// The operand, the constant behind the others.
        operand: usize,
        /// Its shape.
        shape: Vec<u64>,
        /// The output's shape, or that of one element.
        expected: Vec<u64>,
    },
    /// A saved stream that does not fit the operation.
    #[error("the saved stream does not fit: {problem}")]
    StreamState {
        /// What does not fit.
        problem: String,
    },
    /// Something that this needs was left before it was done: an earlier call of a stream was dropped or failed, or a
    /// thread of one of several devices panicked.
    #[error("{what} was not done: {why}")]
    NotDone {
        /// What was not done.
        what: String,
        /// Why not.
        why: &'static str,
    },
    /// A source could not be read.
    #[error("reading failed after byte {at} of the tensor: {message}")]
    Read {
        /// The bytes taken before.
        at: u64,
        /// What the source said.
        message: String,
    },
    /// An output could not be written.
    #[error("writing failed after byte {at} of output {output}: {message}")]
    Write {
        /// The output.
        output: usize,
        /// The bytes written before, of whole chunks.
        at: u64,
        /// What the writer said.
        message: String,
    },
    /// No adapter fits what was asked for.
    #[error("no GPU adapter {wanted}; found: {found}")]
    NoAdapter {
        /// What was asked for.
        wanted: String,
        /// What there is.
        found: String,
    },
    /// The device is gone: it was destroyed, or its driver gave up.
    #[error("the GPU device was lost: {message}")]
    DeviceLost {
        /// What the driver said.
        message: String,
    },
    /// The device has no memory left.
    #[error("the GPU is out of memory: {message}")]
    OutOfMemory {
        /// What was being made.
        message: String,
    },
    /// The GPU, its driver or wgpu refused something.
    #[error("the GPU refused: {message}")]
    Gpu {
        /// What was said.
        message: String,
    },
}

fn join(items: &[impl std::fmt::Display]) -> String {
    if items.is_empty() {
        return "none".into();
    }
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn of_one_buffer([a, b]: &[Range<u64>; 2]) -> String {
    format!("bytes {} to {} and {} to {} of one buffer", a.start, a.end, b.start, b.end)
}

/// The most items of a list that a message names.
const LISTED: usize = 8;

/// A list as Rust writes it, a long one cut short: callers, and the files that they read, may give any number of items.
pub(crate) fn list<T: std::fmt::Debug>(items: &[T]) -> String {
    format!("[{}]", cut(items, |item| format!("{item:?}")))
}

/// Names one after another, a long list of them cut short.
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub(crate) fn names(names: &[String]) -> String {
    cut(names, String::clone)
}

fn cut<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    let shown = if items.len() <= 2 * LISTED { items.len() } else { LISTED };
    let first = items[..shown].iter().map(text).collect::<Vec<_>>().join(", ");
    match items.len() - shown {
        0 => first,
        more => format!("{first}, and {more} more"),
    }
}

/// [`Error::TooLarge`], unless what is given is within the limit.
pub(crate) fn within(what: &'static str, given: u64, limit: u64) -> Result<(), Error> {
    if given > limit { Err(Error::TooLarge { what, given, limit }) } else { Ok(()) }
}

/// [`Error::InvalidPlan`], unless this holds of a plan that was given.
pub(crate) fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::InvalidPlan { problem: problem() }) }
}
