//! The device: it runs a plan's shaders as naga reads them, one invocation after the other, and stops at whatever no device may be left to: an access beyond a binding, a word that two invocations of a dispatch touch and
//! one of them writes with no barrier between, a word read that nobody wrote, a loop without end.

use std::cell::RefCell;
use std::collections::HashMap;
use std::iter;
use std::ops::Range;
use std::rc::Rc;

use naga::{
    AddressSpace, ArraySize, Barrier, BinaryOperator, BuiltIn, Expression, Handle, MathFunction, RelationalFunction,
    TypeInner, UnaryOperator,
};
use wgmax::plan::{Access, Binding, Dispatch, Kernel, Override, Slot};
use wgmax::{Limits, Plan};

use super::origin::{Origin, Origins};
use super::program::{Program, Step, bindings};
use super::traffic::{Counter, Site, Traffic};
use super::value::{Kind, Pointer, Root, Scalar, Value};

/// The most loop iterations that an invocation may make: see `MAX_STEPS` of the planner.
const MAX_ITERATIONS: u64 = 32_768;

/// Who has read, or written, a word in this pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Nobody,
    /// An invocation's number, and how many storage barriers it had passed.
    One(u64, u32),
    Several,
}

/// A word of a buffer.
#[derive(Clone, Copy)]
struct Cell {
    bits: u32,
    origin: Origin,
    /// Whether it holds anything that may be read.
    known: bool,
    reader: Who,
    writer: Who,
    /// Whether a pass wrote it and none has read it since.
    fresh: bool,
}

const EMPTY: Cell =
    Cell { bits: 0, origin: Origin::NONE, known: false, reader: Who::Nobody, writer: Who::Nobody, fresh: false };

/// A buffer: all of its words, or, of one that is too large for paper, those that were touched.
struct Memory {
    len: u64,
    words: Vec<Cell>,
    touched: HashMap<u64, Cell>,
    /// What words are made up from that are read and that nobody filled.
    seed: Option<u64>,
}

impl Memory {
    fn new(slot: Slot, bytes: u64, groups: Groups) -> Memory {
        let len = bytes / 4;
        let words = if groups == Groups::All { vec![EMPTY; len as usize] } else { vec![] };
        let seed = (groups == Groups::Sample).then(|| Memory::seed(slot));
        Memory { len, words, touched: HashMap::new(), seed }
    }

    /// Records begin as zeros: a position in them is one that there is.
    fn seed(slot: Slot) -> u64 {
        match slot {
            Slot::Scratch(_) => 0,
            slot => slot_number(slot) as u64 + 1,
        }
    }

    /// What a word holds that nobody filled, if anything may be made up.
    fn untouched(&self, word: u64) -> Cell {
        match self.seed {
            None => EMPTY,
            Some(0) => Cell { known: true, ..EMPTY },
            Some(seed) => {
                let mixed = (word ^ (seed << 40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                // As elements of any type: no NaN, and some of either sign.
                Cell { bits: ((mixed ^ (mixed >> 29)) >> 16) as u32 & 0xbf3f_bf3f, known: true, ..EMPTY }
            }
        }
    }

    fn cell(&mut self, word: u64) -> &mut Cell {
        match self.words.is_empty() {
            false => &mut self.words[word as usize],
            true => {
                let untouched = self.untouched(word);
                self.touched.entry(word).or_insert(untouched)
            }
        }
    }

    fn cells(&mut self) -> impl Iterator<Item = &mut Cell> {
        self.words.iter_mut().chain(self.touched.values_mut())
    }
}

/// Which workgroups of a pass are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    All,
    /// The first and the last, and of these the first and the last invocation if there is no barrier, for plans too
    /// large for paper; what they read may not have been written.
    Ends,
    /// A few, whole, from the first to the last, while [`Traffic`] is counted. What nobody filled is made up, so that plans
    /// may be as large as they like; where numbers came from is not kept.
    Sample,
}

impl Groups {
    /// The numbers of the workgroups that are run, of so many, and how many each stands for.
    fn of(self, groups: u64) -> Vec<(u64, f64)> {
        let each = |numbers: Vec<u64>| numbers.into_iter().map(|number| (number, 1.0)).collect();
        match self {
            Groups::Sample if groups > 4 => {
                let others = (groups - 1) as f64 / 3.0; // the last may have less to do
                let number = |n| (n * (groups - 1) / 3, others);
                [0, 1, 2].map(number).into_iter().chain([(groups - 1, 1.0)]).collect()
            }
            Groups::Ends if groups > 1 => each(vec![0, groups - 1]),
            _ => each((0..groups).collect()),
        }
    }
}

/// A device with a plan's buffers.
pub struct Paper {
    memories: HashMap<Slot, Memory>,
    pub origins: Origins,
    /// Whether packs are shifted out of words: then, of elements of less than a word, those beside may come along.
    pub shifts: bool,
    /// Of each dispatch that was run, if it is counted.
    pub traffic: Vec<Traffic>,
    groups: Groups,
}

/// The number that a slot goes by in the words of an [`Origin`].
pub fn slot_number(slot: Slot) -> usize {
    match slot {
        Slot::Input(n) => n,
        Slot::Output(n) => 1_000_000 + n,
        Slot::Embedded(n) => 2_000_000 + n,
        Slot::Scratch(n) => 3_000_000 + n, // which holds nothing to begin with: what is read behind its end
    }
}

impl Paper {
    /// Buffers of exactly the bytes that the plan asks for.
    pub fn new(plan: &Plan, groups: Groups) -> Paper {
        let numbered = |bytes: &[u64], slot: fn(usize) -> Slot| {
            let memory = |(n, &bytes): (usize, &u64)| (slot(n), Memory::new(slot(n), bytes, groups));
            bytes.iter().enumerate().map(memory).collect::<Vec<_>>()
        };
        let constants: Vec<u64> = plan.embedded.iter().map(|bytes| bytes.len() as u64).collect();
        let memories = [
            numbered(&plan.input_bytes, Slot::Input),
            numbered(&plan.output_bytes, Slot::Output),
            numbered(&plan.scratch_bytes, Slot::Scratch),
            numbered(&constants, Slot::Embedded),
        ];
        let memories = memories.into_iter().flatten().collect();
        let shifts = plan.dispatches.iter().any(|dispatch| shifts_packs(&dispatch.kernel));
        let origins = Origins::new(groups != Groups::Sample);
        let mut paper = Paper { memories, origins, shifts, traffic: vec![], groups };
        plan.embedded.iter().enumerate().for_each(|(n, bytes)| paper.fill(Slot::Embedded(n), bytes));
        paper
    }

    /// Puts bytes into a buffer, as far as it reaches.
    pub fn fill(&mut self, slot: Slot, bytes: &[u8]) {
        let memory = self.memories.get_mut(&slot).expect("a slot of the plan");
        for (n, word) in (0..memory.len).zip(bytes.chunks(4)) {
            let mut own = [0; 4];
            own[..word.len()].copy_from_slice(word);
            let origin = self.origins.word((slot_number(slot), n));
            *memory.cell(n) = Cell { bits: u32::from_le_bytes(own), origin, known: true, ..EMPTY };
        }
    }

    /// A buffer's bytes, all of which must be known, and where each word came from.
    pub fn read(&mut self, slot: Slot) -> (Vec<u8>, Vec<Origin>) {
        let memory = &self.memories[&slot];
        assert!(memory.words.iter().all(|cell| cell.known), "{slot} is not written everywhere");
        let bytes = memory.words.iter().flat_map(|cell| cell.bits.to_le_bytes()).collect();
        (bytes, memory.words.iter().map(|cell| cell.origin).collect())
    }

    /// Runs the dispatches.
    pub fn run(&mut self, plan: &Plan, limits: &Limits) {
        plan.dispatches.iter().for_each(|pass| self.pass(pass, limits));
    }

    fn pass(&mut self, pass: &Dispatch, limits: &Limits) {
        for memory in self.memories.values_mut() {
            memory.cells().for_each(|cell| (cell.reader, cell.writer) = (Who::Nobody, Who::Nobody));
        }
        for b in &pass.bindings {
            assert!(b.offset_bytes.is_multiple_of(limits.binding_alignment_bytes), "{b:?} is misaligned");
            assert!(b.end_bytes() / 4 <= self.memories[&b.slot].len, "{b:?} is out of range");
        }
        let program = program(&pass.kernel);
        let [x, y, _] = pass.grid;
        let groups = u64::from(x) * u64::from(y);
        let mut traffic = Traffic::new(groups, program.group.into());
        for (group, stands_for) in self.groups.of(groups) {
            let id = [(group % u64::from(x)) as u32, (group / u64::from(x)) as u32, 0];
            traffic.add(Workgroup::new(&program, pass, self, id).run(), stands_for);
        }
        if self.groups == Groups::Sample {
            self.traffic.push(traffic);
        }
    }
}

/// Whether packs that begin anywhere are put together from words.
fn shifts_packs(kernel: &Kernel) -> bool {
    use wgmax::plan::{MaxAccess, Program};
    match kernel.program {
        Program::Reduce { access: Access::Columns | Access::ShortRows { .. }, .. } => {
            [Override::Ragged, Override::LooseEnds].iter().any(|own| kernel.overrides.contains(own))
        }
        Program::Max { operands, access: MaxAccess::Packs { .. } } => operands.shifted != 0,
        Program::Max { operands, access: MaxAccess::ShortRows { .. } } => operands.of_columns | operands.shifted != 0,
        _ => false,
    }
}

/// The program of a kernel, read once.
fn program(kernel: &Kernel) -> Rc<Program> {
    thread_local! {
        static PROGRAMS: RefCell<HashMap<Kernel, Rc<Program>>> = RefCell::default();
    }
    PROGRAMS.with_borrow_mut(|known| match known.get(kernel) {
        Some(program) => program.clone(),
        None => known.entry(kernel.clone()).or_insert(Rc::new(Program::new(kernel))).clone(),
    })
}

/// What a global variable is.
enum Global {
    Value(Value),
    /// A binding, and the words of one of its elements.
    Buffer(Binding, u64),
}

struct Workgroup<'a> {
    program: &'a Program,
    paper: &'a mut Paper,
    globals: Vec<Global>,
    id: [u32; 3],
    grid: [u32; 3],
    /// Whether inputs are bound in whole packs.
    shared_buffers: bool,
    /// The storage barriers that its invocations have passed.
    phase: u32,
    counter: Option<Counter>,
}

struct Frame {
    routine: usize,
    next: usize,
    known: Vec<Value>,
    arguments: Vec<Value>,
    locals: usize,
    /// Conditions that held when it was called.
    conditions: usize,
    /// Where its caller wants the result.
    result: Option<Handle<Expression>>,
}

struct Invocation {
    /// Its number in the dispatch.
    number: u64,
    frames: Vec<Frame>,
    stack: Vec<Value>,
    conditions: Vec<Origin>,
    iterations: u64,
    /// The turns of loops, and the barriers, that it is through with.
    turn: u32,
}

impl<'a> Workgroup<'a> {
    fn new(program: &'a Program, pass: &Dispatch, paper: &'a mut Paper, id: [u32; 3]) -> Workgroup<'a> {
        let numbers = bindings(&program.module);
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&pass.params.to_bytes());
        let global = |(handle, own): (Handle<naga::GlobalVariable>, &naga::GlobalVariable)| match own.space {
            AddressSpace::Uniform => Global::Value(program.of_words(own.ty, &[&words[..], &[0; 4]].concat())),
            AddressSpace::WorkGroup => Global::Value(program.zero(own.ty)),
            AddressSpace::Storage { access } => {
                let bound = pass.bindings.iter().find(|b| b.binding == numbers[&handle.index()]);
                let bound = bound.unwrap_or_else(|| panic!("nothing is bound to {:?}", own.name));
                let writes = access.contains(naga::StorageAccess::STORE);
                assert_eq!(writes, bound.writes || pass.kernel.shared_buffers, "{:?} and {bound:?}", own.name);
                let TypeInner::Array { size: ArraySize::Dynamic, stride, .. } = program.module.types[own.ty].inner
                else {
                    panic!("{:?} is no array", own.name)
                };
                Global::Buffer(*bound, u64::from(stride) / 4)
            }
            other => panic!("no shader here has {other:?}"),
        };
        let globals = program.module.global_variables.iter().map(global).collect();
        let shared_buffers = pass.kernel.shared_buffers;
        let counter = (paper.groups == Groups::Sample).then(Counter::default);
        Workgroup { program, paper, globals, id, grid: pass.grid, shared_buffers, phase: 0, counter }
    }

    /// What was counted, if anything is.
    fn run(mut self) -> Option<Counter> {
        let group = u64::from(self.id[1] * self.grid[0] + self.id[0]);
        let count = self.program.group;
        let all = self.paper.groups != Groups::Ends || self.program.has_barriers();
        let run = (0..count).filter(|&local| all || local == 0 || local + 1 == count);
        let mut invocations: Vec<Invocation> =
            run.map(|local| self.invocation(group * u64::from(count) + u64::from(local), local)).collect();
        while !invocations.is_empty() {
            // Up to a barrier, or to the end: all alike.
            let reached: Vec<Option<Barrier>> = invocations.iter_mut().map(|own| self.advance(own)).collect();
            assert!(reached.iter().all(|own| *own == reached[0]), "a barrier that some of a workgroup never reach");
            match reached[0] {
                Some(barrier) => {
                    self.phase += u32::from(barrier.contains(Barrier::STORAGE));
                    invocations.iter_mut().for_each(|own| own.turn += 1);
                    self.counter.iter_mut().for_each(|counter| counter.barrier(barrier));
                }
                None => invocations.clear(),
            }
        }
        self.counter
    }

    fn invocation(&self, number: u64, local: u32) -> Invocation {
        let function = &self.program.routines[self.program.entry].function;
        let vector = |own: [u32; 3]| Value::vector(own.map(Scalar::u32));
        let built_in = |own: &naga::StructMember| match own.binding {
            Some(naga::Binding::BuiltIn(BuiltIn::WorkGroupId)) => vector(self.id),
            Some(naga::Binding::BuiltIn(BuiltIn::NumWorkGroups)) => vector(self.grid),
            Some(naga::Binding::BuiltIn(BuiltIn::LocalInvocationIndex)) => Value::Scalar(Scalar::u32(local)),
            ref other => panic!("no shader here has {other:?}"),
        };
        let argument = |own: &naga::FunctionArgument| match &self.program.module.types[own.ty].inner {
            TypeInner::Struct { members, .. } => Value::composite(members.iter().map(built_in)),
            other => panic!("no shader here is given {other:?}"),
        };
        let arguments = function.arguments.iter().map(argument).collect();
        let mut own = Invocation { number, frames: vec![], stack: vec![], conditions: vec![], iterations: 0, turn: 0 };
        self.call(&mut own, self.program.entry, arguments, None);
        own
    }

    fn call(&self, own: &mut Invocation, routine: usize, arguments: Vec<Value>, result: Option<Handle<Expression>>) {
        let function = &self.program.routines[routine].function;
        let locals = own.stack.len();
        own.stack.extend(function.local_variables.iter().map(|(_, local)| self.program.zero(local.ty)));
        let known = iter::repeat_with(|| Value::None).take(function.expressions.len()).collect();
        let conditions = own.conditions.len();
        own.frames.push(Frame { routine, next: 0, known, arguments, locals, conditions, result });
        for (handle, local) in function.local_variables.iter() {
            if let Some(init) = local.init {
                own.stack[locals + handle.index()] = self.value(own, init);
            }
        }
    }

    /// Goes on up to the next barrier, if there is one.
    fn advance(&mut self, own: &mut Invocation) -> Option<Barrier> {
        let program = self.program;
        loop {
            let frame = own.frames.last_mut()?;
            let step = &program.routines[frame.routine].steps[frame.next];
            frame.next += 1;
            match step {
                Step::Evaluate(expression) => {
                    let value = self.evaluate(own, *expression);
                    own.frames.last_mut().expect("it runs").known[expression.index()] = value;
                }
                Step::Store { pointer, value } => {
                    let site = Site::store(frame.routine, frame.next);
                    let (pointer, value) = self.stored(own, *pointer, *value);
                    self.store(own, pointer, value, site);
                }
                Step::AtomicOr { pointer, value } => {
                    let site = Site::store(frame.routine, frame.next);
                    let (pointer, value) = self.stored(own, *pointer, *value);
                    self.atomic_or(own, pointer, value.scalar(), site);
                }
                Step::Call { function, arguments, result } => {
                    let arguments = arguments.iter().map(|&argument| self.value(own, argument)).collect();
                    self.call(own, *function, arguments, *result);
                }
                Step::Return(value) => {
                    let value = value.map(|value| self.value(own, value));
                    self.leave(own, value);
                }
                Step::Jump(target) => {
                    if *target < frame.next {
                        own.iterations += 1;
                        assert!(own.iterations <= MAX_ITERATIONS, "more than {MAX_ITERATIONS} iterations");
                    }
                    frame.next = *target;
                }
                Step::Turn => own.turn += 1,
                Step::Enter { condition, otherwise } => {
                    let condition = self.value(own, *condition).scalar();
                    own.conditions.push(condition.origin);
                    if !condition.is_true() {
                        own.frames.last_mut().expect("it runs").next = *otherwise;
                    }
                }
                Step::Leave(depth) => own.conditions.truncate(frame.conditions + depth),
                Step::Barrier(barrier) => return Some(*barrier),
            }
        }
    }

    /// Where something is stored, and what: where it goes says as much as what it is.
    fn stored(&mut self, own: &Invocation, pointer: Handle<Expression>, value: Handle<Expression>) -> (Pointer, Value) {
        let (pointer, value) = (self.value(own, pointer).pointer(), self.value(own, value));
        let decided = own.conditions.iter().chain([&pointer.origin]);
        let value = decided.fold(value, |value, &origin| value.stained(origin, &mut self.paper.origins));
        (pointer, value)
    }

    fn leave(&mut self, own: &mut Invocation, value: Option<Value>) {
        let frame = own.frames.pop().expect("it runs");
        // What is returned under a condition depends on it.
        let value = value.map(|value| {
            let within = own.conditions[frame.conditions..].iter();
            within.fold(value, |value, &origin| value.stained(origin, &mut self.paper.origins))
        });
        own.conditions.truncate(frame.conditions);
        own.stack.truncate(frame.locals);
        if let (Some(caller), Some(result), Some(value)) = (own.frames.last_mut(), frame.result, value) {
            caller.known[result.index()] = value;
        }
    }

    fn value(&self, own: &Invocation, expression: Handle<Expression>) -> Value {
        let frame = own.frames.last().expect("it runs");
        match &frame.known[expression.index()] {
            Value::None => self.made(own, expression),
            known => known.clone(),
        }
    }

    /// Of an expression that takes nothing but values.
    fn made(&self, own: &Invocation, expression: Handle<Expression>) -> Value {
        let frame = own.frames.last().expect("it runs");
        match &self.program.routines[frame.routine].function.expressions[expression] {
            Expression::Literal(literal) => Value::Scalar(Scalar::literal(*literal)),
            Expression::Constant(constant) => self.program.constants[constant.index()].clone(),
            Expression::ZeroValue(ty) => self.program.zero(*ty),
            Expression::FunctionArgument(n) => frame.arguments[*n as usize].clone(),
            Expression::GlobalVariable(handle) => Value::Pointer(Pointer::new(Root::Global(handle.index()))),
            Expression::LocalVariable(handle) => {
                Value::Pointer(Pointer::new(Root::Local(frame.locals + handle.index())))
            }
            Expression::Compose { ty, components } => {
                self.program.compose(*ty, components.iter().map(|&part| self.value(own, part)).collect())
            }
            Expression::Splat { size, value } => {
                Value::vector(std::iter::repeat_n(self.value(own, *value).scalar(), *size as usize))
            }
            other => panic!("not evaluated: {other:?}"),
        }
    }

    fn evaluate(&mut self, own: &Invocation, expression: Handle<Expression>) -> Value {
        let routine = own.frames.last().expect("it runs").routine;
        let program = self.program;
        match &program.routines[routine].function.expressions[expression] {
            Expression::Access { base, index } => {
                let index = self.value(own, *index).scalar();
                match self.value(own, *base) {
                    Value::Pointer(pointer) => {
                        let origin = self.paper.origins.both(pointer.origin, index.origin);
                        Value::Pointer(Pointer { origin, ..pointer.into_member(index.bits) })
                    }
                    value => value.member(index.bits as usize).stained(index.origin, &mut self.paper.origins),
                }
            }
            Expression::AccessIndex { base, index } => match self.value(own, *base) {
                Value::Pointer(pointer) => Value::Pointer(pointer.into_member(*index)),
                value => value.member(*index as usize),
            },
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.value(own, *vector);
                let component = |n: usize| vector.member(pattern[n] as usize).scalar();
                Value::vector((0..*size as usize).map(component))
            }
            Expression::Load { pointer } => {
                let pointer = self.value(own, *pointer).pointer();
                self.load(own, pointer, Site::load(routine, expression))
            }
            Expression::Unary { op, expr } => self.value(own, *expr).map(|a| unary(*op, a)),
            Expression::Binary { op, left, right } => {
                let (left, right) = (self.value(own, *left), self.value(own, *right));
                left.zip(&right, |a, b| binary(*op, a, b, &mut self.paper.origins))
            }
            Expression::Select { condition, accept, reject } => {
                let (accept, reject) = (self.value(own, *accept), self.value(own, *reject));
                self.select(&self.value(own, *condition), accept, reject)
            }
            Expression::Relational { fun, argument } => {
                let Value::Vector(parts, len) = self.value(own, *argument) else { panic!("all() of no vector") };
                let bits = match fun {
                    RelationalFunction::All => parts[..len].iter().all(|part| part.is_true()),
                    RelationalFunction::Any => parts[..len].iter().any(|part| part.is_true()),
                    other => panic!("no shader here has {other:?}"),
                };
                let origin = parts[..len].iter().fold(Origin::NONE, |o, part| self.paper.origins.both(o, part.origin));
                Value::Scalar(Scalar { kind: Kind::Bool, bits: bits.into(), origin })
            }
            Expression::Math { fun, arg, arg1, arg2, .. } => {
                let first = self.value(own, *arg);
                let second = arg1.map(|arg| self.value(own, arg));
                let third = arg2.map(|arg| self.value(own, arg));
                let mut fold = |a: &Value, b: &Value, op| a.zip(b, |a, b| extreme(op, a, b, &mut self.paper.origins));
                match (fun, second, third) {
                    (MathFunction::Max | MathFunction::Min, Some(second), None) => fold(&first, &second, *fun),
                    (MathFunction::Clamp, Some(low), Some(high)) => {
                        let low = fold(&first, &low, MathFunction::Max);
                        fold(&low, &high, MathFunction::Min)
                    }
                    (MathFunction::FirstTrailingBit, None, None) => first.map(|a| at_bit(a, a.bits.trailing_zeros())),
                    (MathFunction::FirstLeadingBit, None, None) => {
                        first.map(|a| at_bit(a, 31_u32.wrapping_sub(a.bits.leading_zeros())))
                    }
                    (other, ..) => panic!("no shader here has {other:?}"),
                }
            }
            Expression::As { expr, kind, convert } => {
                let kind = Kind::of(*kind);
                self.value(own, *expr).map(|a| match (kind, convert) {
                    (Kind::Bool, Some(_)) => Scalar { kind, bits: (a.bits != 0).into(), ..a },
                    _ => Scalar { kind, ..a },
                })
            }
            Expression::ArrayLength(array) => match &self.globals[root(self.value(own, *array).pointer())] {
                Global::Buffer(bound, stride) => Value::Scalar(Scalar::u32((bound.bytes / 4 / stride) as u32)),
                Global::Value(_) => panic!("the length of no buffer"),
            },
            _ => self.made(own, expression),
        }
    }

    fn select(&mut self, condition: &Value, accept: Value, reject: Value) -> Value {
        let origins = &mut self.paper.origins;
        match condition {
            Value::Scalar(own) => if own.is_true() { accept } else { reject }.stained(own.origin, origins),
            Value::Vector(own, len) => Value::vector((0..*len).map(|n| {
                let chosen = if own[n].is_true() { accept.member(n) } else { reject.member(n) };
                chosen.stained(own[n].origin, origins).scalar()
            })),
            other => panic!("selected by {other:?}"),
        }
    }

    fn load(&mut self, own: &Invocation, pointer: Pointer, site: Site) -> Value {
        let global = match pointer.root {
            Root::Local(at) => return own.stack[at].at(pointer.steps()),
            Root::Global(global) => global,
        };
        let (bound, stride) = match &self.globals[global] {
            Global::Value(value) => return value.at(pointer.steps()),
            Global::Buffer(bound, stride) => (*bound, *stride),
        };
        self.count(own, site, &bound, pointer.steps(), stride);
        match (pointer.steps(), stride) {
            ([index], 1) => Value::Scalar(self.load_word(own, &bound, u64::from(*index), stride)),
            ([index], _) => {
                let first = u64::from(*index) * stride;
                Value::vector((first..first + stride).map(|word| self.load_word(own, &bound, word, stride)))
            }
            ([index, part], _) => {
                Value::Scalar(self.load_word(own, &bound, u64::from(*index) * stride + u64::from(*part), stride))
            }
            other => panic!("{other:?} of a buffer"),
        }
    }

    fn count(&mut self, own: &Invocation, site: Site, bound: &Binding, steps: &[u32], stride: u64) {
        let Some(counter) = &mut self.counter else { return };
        let first = bound.offset_bytes / 4 + u64::from(steps[0]) * stride;
        let words = match steps {
            [_, part] => first + u64::from(*part)..first + u64::from(*part) + 1,
            _ => first..first + stride,
        };
        counter.access(own.number % u64::from(self.program.group), own.turn, site, bound.slot, words);
    }

    fn me(&self, own: &Invocation) -> Me {
        let count = u64::from(self.program.group);
        let first = own.number / count * count;
        Me { number: own.number, numbers: first..first + count, phase: self.phase }
    }

    /// Whether it is behind the last word of an input, or of winners, that is bound in whole packs.
    fn is_padding(&mut self, bound: &Binding, word: u64, stride: u64) -> bool {
        let bound_in_packs = match bound.slot {
            Slot::Input(_) => self.shared_buffers,
            Slot::Scratch(1) => stride == 4,
            Slot::Scratch(_) | Slot::Output(_) | Slot::Embedded(_) => false,
        };
        let in_whole_packs = bound_in_packs && word + 3 >= bound.bytes / 4;
        let memory = self.paper.memories.get_mut(&bound.slot).expect("a slot of the plan");
        in_whole_packs && !memory.cell(bound.offset_bytes / 4 + word).known
    }

    fn load_word(&mut self, own: &Invocation, bound: &Binding, word: u64, stride: u64) -> Scalar {
        // WebGPU lets a read beyond a binding give anything of the buffer. Shaders make use of that where they put a
        // pack together at a binding's end, and where ArgMax finds rows for all of a pack's columns, there or not: then
        // nothing that is written may come of it.
        let len = bound.bytes / 4;
        assert!(word < len + 3, "word {word} of {bound:?} is read");
        if word >= len || self.is_padding(bound, word, stride) {
            let origin = self.paper.origins.word((slot_number(bound.slot), u64::MAX));
            return Scalar { kind: Kind::U32, bits: 0xa5c3_96e7, origin };
        }
        let me = self.me(own);
        let memory = self.paper.memories.get_mut(&bound.slot).expect("a slot of the plan");
        let cell = memory.cell(bound.offset_bytes / 4 + word);
        assert!(
            cell.known || self.paper.groups == Groups::Ends,
            "word {word} of {bound:?} is read before it is written"
        );
        assert!(me.follows(cell.writer), "word {word} of {bound:?} is written by one invocation and read by another");
        cell.reader = if me.follows(cell.reader) { me.who() } else { Who::Several };
        cell.fresh = false;
        Scalar { kind: Kind::U32, bits: cell.bits, origin: cell.origin }
    }

    fn store(&mut self, own: &mut Invocation, pointer: Pointer, value: Value, site: Site) {
        let global = match pointer.root {
            Root::Local(at) => return own.stack[at].set(pointer.steps(), value),
            Root::Global(global) => global,
        };
        let (bound, stride) = match &mut self.globals[global] {
            Global::Value(known) => return known.set(pointer.steps(), value),
            Global::Buffer(bound, stride) => (*bound, *stride),
        };
        self.count(own, site, &bound, pointer.steps(), stride);
        match (pointer.steps(), value) {
            ([index], Value::Scalar(value)) => self.store_word(own, &bound, u64::from(*index), value),
            ([index], Value::Vector(parts, len)) => {
                let first = u64::from(*index) * stride;
                (first..).zip(&parts[..len]).for_each(|(word, &part)| self.store_word(own, &bound, word, part));
            }
            ([index, part], Value::Scalar(value)) => {
                self.store_word(own, &bound, u64::from(*index) * stride + u64::from(*part), value);
            }
            other => panic!("{other:?} to a buffer"),
        }
    }

    /// Sets bits of a word. Others may do so to the same word, in any order, but nothing else in the same pass.
    fn atomic_or(&mut self, own: &Invocation, pointer: Pointer, value: Scalar, site: Site) {
        let (Root::Global(global), [word]) = (pointer.root, pointer.steps()) else {
            panic!("{pointer:?} of no buffer")
        };
        let Global::Buffer(bound, stride) = self.globals[global] else { panic!("{pointer:?} of no buffer") };
        self.count(own, site, &bound, &[*word], stride);
        assert!(u64::from(*word) < bound.bytes / 4, "word {word} of {bound:?} is written");
        let memory = self.paper.memories.get_mut(&bound.slot).expect("a slot of the plan");
        let cell = memory.cell(bound.offset_bytes / 4 + u64::from(*word));
        assert!(cell.known || self.paper.groups == Groups::Ends, "word {word} of {bound:?} is not written before");
        let alone = matches!(cell.writer, Who::Nobody | Who::Several) && cell.reader == Who::Nobody;
        assert!(alone, "word {word} of {bound:?} is taken both as it is and atomically");
        let made_up = self.paper.groups == Groups::Sample;
        assert!(made_up || cell.bits & value.bits == 0, "bits of word {word} of {bound:?} are set twice");
        let origin = self.paper.origins.both(cell.origin, value.origin);
        *cell = Cell { bits: cell.bits | value.bits, origin, known: true, writer: Who::Several, fresh: true, ..*cell };
    }

    fn store_word(&mut self, own: &Invocation, bound: &Binding, word: u64, value: Scalar) {
        assert!(word < bound.bytes / 4, "word {word} of {bound:?} is written");
        let me = self.me(own);
        let memory = self.paper.memories.get_mut(&bound.slot).expect("a slot of the plan");
        let cell = memory.cell(bound.offset_bytes / 4 + word);
        assert!(me.follows(cell.writer), "word {word} of {bound:?} is written by two invocations");
        assert!(me.follows(cell.reader), "word {word} of {bound:?} is read by one invocation and written by another");
        // Zeros may be written first, by whoever writes the rest.
        let zero = cell.writer != Who::Nobody && cell.bits == 0 && cell.origin == Origin::NONE;
        // Of an earlier dispatch's words who reads them may not be in a sample.
        let unseen = self.paper.groups == Groups::Sample && cell.writer == Who::Nobody;
        assert!(!cell.fresh || zero || unseen, "word {word} of {bound:?} is written twice, and not read in between");
        *cell = Cell { bits: value.bits, origin: value.origin, known: true, writer: me.who(), fresh: true, ..*cell };
    }
}

/// An invocation at some point of its run.
struct Me {
    number: u64,
    /// Of all of its workgroup.
    numbers: Range<u64>,
    phase: u32,
}

impl Me {
    fn who(&self) -> Who {
        Who::One(self.number, self.phase)
    }

    /// Whether that was before, for certain: by itself, or ahead of a storage barrier of its workgroup.
    fn follows(&self, who: Who) -> bool {
        match who {
            Who::Nobody => true,
            Who::One(number, phase) => number == self.number || phase < self.phase && self.numbers.contains(&number),
            Who::Several => false,
        }
    }
}

fn root(pointer: Pointer) -> usize {
    match pointer.root {
        Root::Global(global) => global,
        Root::Local(_) => panic!("a local array's length"),
    }
}

fn unary(op: UnaryOperator, a: Scalar) -> Scalar {
    let bits = match op {
        UnaryOperator::Negate => a.bits.wrapping_neg(),
        UnaryOperator::BitwiseNot => !a.bits,
        UnaryOperator::LogicalNot => (a.bits == 0).into(),
    };
    Scalar { bits, ..a }
}

fn binary(op: BinaryOperator, a: Scalar, b: Scalar, origins: &mut Origins) -> Scalar {
    use BinaryOperator as Op;
    let signed = a.kind == Kind::I32;
    let (x, y) = (a.bits, b.bits);
    let less = |x: u32, y: u32| if signed { (x as i32) < y as i32 } else { x < y };
    let compared = match op {
        Op::Equal => Some(x == y),
        Op::NotEqual => Some(x != y),
        Op::Less => Some(less(x, y)),
        Op::LessEqual => Some(!less(y, x)),
        Op::Greater => Some(less(y, x)),
        Op::GreaterEqual => Some(!less(x, y)),
        _ => None,
    };
    let bits = match op {
        Op::Add => x.wrapping_add(y),
        Op::Subtract => x.wrapping_sub(y),
        Op::Multiply => x.wrapping_mul(y),
        Op::Divide | Op::Modulo if y == 0 => panic!("a division by 0"),
        Op::Divide if signed => (x as i32).wrapping_div(y as i32) as u32,
        Op::Divide => x / y,
        Op::Modulo if signed => (x as i32).wrapping_rem(y as i32) as u32,
        Op::Modulo => x % y,
        Op::And | Op::LogicalAnd => x & y,
        Op::InclusiveOr | Op::LogicalOr => x | y,
        Op::ExclusiveOr => x ^ y,
        Op::ShiftLeft => x.wrapping_shl(y),
        Op::ShiftRight if signed => (x as i32).wrapping_shr(y) as u32,
        Op::ShiftRight => x.wrapping_shr(y),
        _ => compared.expect("every operator is here").into(),
    };
    let nothing = |own: Scalar| own.bits == 0 && own.origin == Origin::NONE;
    let origin = match op {
        Op::And if nothing(a) || nothing(b) => Origin::NONE, // masked out
        _ => origins.both(a.origin, b.origin),
    };
    Scalar { kind: if compared.is_some() { Kind::Bool } else { a.kind }, bits, origin }
}

/// The number of a word's bit, if it has any that is set.
fn at_bit(word: Scalar, number: u32) -> Scalar {
    assert!(word.kind == Kind::U32, "bits of {word:?}");
    Scalar { bits: if word.bits == 0 { u32::MAX } else { number }, ..word }
}

fn extreme(op: MathFunction, a: Scalar, b: Scalar, origins: &mut Origins) -> Scalar {
    let less = if a.kind == Kind::I32 { (a.bits as i32) < b.bits as i32 } else { a.bits < b.bits };
    let bits = if less == (op == MathFunction::Max) { b.bits } else { a.bits };
    Scalar { bits, origin: origins.both(a.origin, b.origin), ..a }
}
