//! A shader as a flat list of steps, so that an invocation can stop at a barrier and go on.

use std::collections::HashMap;

use naga::back::PipelineConstants;
use naga::proc::IndexableLength;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{ArraySize, AtomicFunction, Block, Expression, Function, Handle, Module, Statement, Type, TypeInner};
use wgmax::plan::Kernel;

use super::value::{Kind, Scalar, Value};

/// One step of a function.
pub enum Step {
    Evaluate(Handle<Expression>),
    Store {
        pointer: Handle<Expression>,
        value: Handle<Expression>,
    },
    /// Takes these bits into a word, whoever else does.
    AtomicOr {
        pointer: Handle<Expression>,
        value: Handle<Expression>,
    },
    Call {
        function: usize,
        arguments: Vec<Handle<Expression>>,
        result: Option<Handle<Expression>>,
    },
    Return(Option<Handle<Expression>>),
    Jump(usize),
    /// The end of a loop's turn, unless the loop has a known number of turns, which compilers unroll.
    Turn,
    /// Goes on if the condition holds; what is done up to the next [`Step::Leave`] of the same depth depends on it.
    Enter {
        condition: Handle<Expression>,
        otherwise: usize,
    },
    /// Goes back to this depth of conditions.
    Leave(usize),
    Barrier(naga::Barrier),
}

pub struct Routine {
    pub function: Function,
    pub steps: Vec<Step>,
}

pub struct Program {
    pub module: Module,
    pub routines: Vec<Routine>,
    /// The entry point's number among them.
    pub entry: usize,
    pub group: u32,
    pub constants: Vec<Value>,
}

impl Program {
    pub fn new(kernel: &Kernel) -> Program {
        let module = naga::front::wgsl::parse_str(&kernel.wgsl()).unwrap_or_else(|error| panic!("{kernel}: {error}"));
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::default());
        let info = validator.validate(&module).unwrap_or_else(|error| panic!("{kernel}: {error:?}"));
        let mut constants = PipelineConstants::default();
        constants.extend(kernel.constants().map(|(name, value)| (name.to_string(), f64::from(value))));
        let entry = Some((naga::ShaderStage::Compute, Kernel::ENTRY_POINT));
        let (module, _) = naga::back::pipeline_constants::process_overrides(&module, &info, entry, &constants)
            .unwrap_or_else(|error| panic!("{kernel}: {error}"));
        let module = module.into_owned();
        let mut routines: Vec<Routine> = module.functions.iter().map(|(_, function)| Routine::new(function)).collect();
        routines.push(Routine::new(&module.entry_points[0].function));
        let [group, 1, 1] = module.entry_points[0].workgroup_size else { panic!("{kernel}: a workgroup of lines") };
        let mut program = Program { entry: routines.len() - 1, routines, group, constants: vec![], module };
        for (_, constant) in program.module.constants.iter() {
            let value = program.global(constant.init);
            program.constants.push(value);
        }
        program
    }

    pub fn has_barriers(&self) -> bool {
        self.routines.iter().flat_map(|routine| &routine.steps).any(|step| matches!(step, Step::Barrier(_)))
    }

    fn global(&self, expression: Handle<Expression>) -> Value {
        match &self.module.global_expressions[expression] {
            Expression::Literal(literal) => Value::Scalar(Scalar::literal(*literal)),
            Expression::Constant(constant) => self.constants[constant.index()].clone(),
            Expression::ZeroValue(ty) => self.zero(*ty),
            Expression::Compose { ty, components } => {
                self.compose(*ty, components.iter().map(|&own| self.global(own)).collect())
            }
            Expression::Splat { size, value } => {
                let value = self.global(*value).scalar();
                Value::vector(std::iter::repeat_n(value, *size as usize))
            }
            other => panic!("a constant of {other:?}"),
        }
    }

    pub fn compose(&self, ty: Handle<Type>, components: Vec<Value>) -> Value {
        match self.module.types[ty].inner {
            TypeInner::Vector { .. } => Value::vector(components.iter().flat_map(|own| match own {
                Value::Vector(own, len) => own[..*len].to_vec(),
                own => vec![own.scalar()],
            })),
            _ => Value::composite(components),
        }
    }

    fn array_len(&self, size: &ArraySize) -> usize {
        match size.resolve(self.module.to_ctx()) {
            Ok(IndexableLength::Known(len)) => len as usize,
            other => panic!("an array of length {other:?}"),
        }
    }

    pub fn zero(&self, ty: Handle<Type>) -> Value {
        match &self.module.types[ty].inner {
            TypeInner::Scalar(scalar) => Value::Scalar(Scalar::new(Kind::of(scalar.kind), 0)),
            TypeInner::Vector { size, scalar } => {
                Value::vector(std::iter::repeat_n(Scalar::new(Kind::of(scalar.kind), 0), *size as usize))
            }
            TypeInner::Array { base, size, .. } => Value::composite(vec![self.zero(*base); self.array_len(size)]),
            TypeInner::Struct { members, .. } => Value::composite(members.iter().map(|member| self.zero(member.ty))),
            other => panic!("a zero of {other:?}"),
        }
    }

    /// A value of this type out of the words of a uniform buffer.
    pub fn of_words(&self, ty: Handle<Type>, words: &[u32]) -> Value {
        match &self.module.types[ty].inner {
            TypeInner::Scalar(scalar) => Value::Scalar(Scalar::new(Kind::of(scalar.kind), words[0])),
            TypeInner::Vector { size, scalar } => {
                Value::vector(words[..*size as usize].iter().map(|&word| Scalar::new(Kind::of(scalar.kind), word)))
            }
            TypeInner::Array { base, size, stride } => {
                let element = |n: usize| self.of_words(*base, &words[n * *stride as usize / 4..]);
                Value::composite((0..self.array_len(size)).map(element))
            }
            TypeInner::Struct { members, .. } => {
                let member = |own: &naga::StructMember| self.of_words(own.ty, &words[own.offset as usize / 4..]);
                Value::composite(members.iter().map(member))
            }
            other => panic!("{other:?} in a uniform buffer"),
        }
    }
}

/// Jumps whose targets are not known yet.
#[derive(Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
    depth: usize,
}

struct Flattener<'a> {
    function: &'a Function,
    steps: Vec<Step>,
    loops: Vec<Loop>,
    depth: usize,
}

impl Routine {
    fn new(function: &Function) -> Routine {
        let mut flattener = Flattener { function, steps: vec![], loops: vec![], depth: 0 };
        flattener.block(&function.body);
        flattener.steps.push(Step::Return(None));
        Routine { function: function.clone(), steps: flattener.steps }
    }
}

impl Flattener<'_> {
    fn jump(&mut self) -> usize {
        self.steps.push(Step::Jump(usize::MAX));
        self.steps.len() - 1
    }

    fn land(&mut self, jumps: impl IntoIterator<Item = usize>) {
        let here = self.steps.len();
        for jump in jumps {
            match &mut self.steps[jump] {
                Step::Jump(target) | Step::Enter { otherwise: target, .. } => *target = here,
                _ => unreachable!("not a jump"),
            }
        }
    }

    fn enter(&mut self, condition: Handle<Expression>) -> usize {
        self.steps.push(Step::Enter { condition, otherwise: usize::MAX });
        self.depth += 1;
        self.steps.len() - 1
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Emit(range) => self.steps.extend(range.clone().map(Step::Evaluate)),
            Statement::Block(block) => self.block(block),
            Statement::Store { pointer, value } => self.steps.push(Step::Store { pointer: *pointer, value: *value }),
            Statement::Atomic { pointer, fun: AtomicFunction::InclusiveOr, value, .. } => {
                self.steps.push(Step::AtomicOr { pointer: *pointer, value: *value });
            }
            Statement::Return { value } => self.steps.push(Step::Return(*value)),
            Statement::ControlBarrier(barrier) => self.steps.push(Step::Barrier(*barrier)),
            Statement::Call { function, arguments, result } => self.steps.push(Step::Call {
                function: function.index(),
                arguments: arguments.clone(),
                result: *result,
            }),
            Statement::If { condition, accept, reject } => {
                let depth = self.depth;
                let enter = self.enter(*condition);
                self.block(accept);
                let end = self.jump();
                self.land([enter]);
                self.block(reject);
                self.land([end]);
                self.depth = depth;
                self.steps.push(Step::Leave(depth));
            }
            Statement::Loop { body, continuing, break_if } => self.repeat(body, continuing, *break_if),
            Statement::Break => {
                let jump = self.jump();
                self.loops.last_mut().expect("in a loop").breaks.push(jump);
            }
            Statement::Continue => {
                let jump = self.jump();
                self.loops.last_mut().expect("in a loop").continues.push(jump);
            }
            other => panic!("no shader here has {other:?}"),
        }
    }

    fn repeat(&mut self, body: &Block, continuing: &Block, break_if: Option<Handle<Expression>>) {
        let begin = self.steps.len();
        self.loops.push(Loop { depth: self.depth, ..Loop::default() });
        self.block(body);
        let mut own = self.loops.pop().expect("pushed above");
        self.land(std::mem::take(&mut own.continues));
        self.steps.push(Step::Leave(own.depth));
        if !self.is_counted(body) {
            self.steps.push(Step::Turn);
        }
        self.block(continuing);
        if let Some(condition) = break_if {
            let enter = self.enter(condition);
            own.breaks.push(self.jump());
            self.land([enter]);
            self.steps.push(Step::Leave(own.depth));
        }
        self.steps.push(Step::Jump(begin));
        self.land(own.breaks);
        self.depth = own.depth;
        self.steps.push(Step::Leave(own.depth));
    }
}

impl Flattener<'_> {
    /// Whether it is a `for` up to a literal.
    fn is_counted(&self, body: &Block) -> bool {
        let condition = body.iter().find_map(|statement| match statement {
            Statement::If { condition, .. } => Some(*condition),
            _ => None,
        });
        let expression = condition.map(|condition| &self.function.expressions[condition]);
        let Some(Expression::Binary { op: naga::BinaryOperator::Less, right, .. }) = expression else { return false };
        matches!(self.function.expressions[*right], Expression::Literal(_) | Expression::Constant(_))
    }
}

/// The uniform and storage bindings of a program: by the number of the global variable.
pub fn bindings(module: &Module) -> HashMap<usize, u32> {
    let bound = module.global_variables.iter().filter_map(|(handle, own)| Some((handle.index(), own.binding?.binding)));
    bound.collect()
}
