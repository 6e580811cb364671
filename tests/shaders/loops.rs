//! What every loop of a shader keeps to.
//!
//! It ends, whatever buffers and parameters hold. That is known of a loop if a counter of its own climbs by the same
//! step every time round, modulo 2^32, and the loop is left where that counter, or a fixed distance above it, is no less
//! than a number of which it is known that it leaves room for the step: none leaps over [number, 2^32). Or if it is left
//! where a number is 0 that is divided every time round.
//!
//! And it may be left before anything else is done in it, wherever else it may be, too. SwiftShader needs that: from a
//! loop that is left at its end alone, each invocation takes what the last one to leave computed.
//!
//! And neither a loop nor a branch is decided by parameters alone, as far as its function and those that it gives no other
//! numbers tell: lavapipe compiles a shader that has such a decision once more with their values and, where that makes it half as
//! long, for each dispatch anew.

use std::cell::RefCell;

use naga::{
    AddressSpace, BinaryOperator, Block, Expression, Function, Handle, Literal, LocalVariable, MathFunction, Module,
    Scalar, Statement, TypeInner, UnaryOperator,
};

/// What is wrong with which function's loops.
pub fn problems(module: &Module) -> Vec<String> {
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    let functions = module.functions.iter().map(|(_, function)| function).chain(entries);
    let mut problems = Vec::new();
    for function in functions {
        let name = function.name.as_deref().unwrap_or("main");
        each_statement(&function.body, &mut |statement| {
            let decides = match statement {
                Statement::If { condition, .. } => Some(*condition),
                Statement::Loop { break_if, .. } => *break_if,
                _ => None,
            };
            let decision = Decision::new(module, function, Origin::Others);
            if decides.is_some_and(|condition| decision.of(condition) == Origin::Parameters) && !name.starts_with(LONG)
            {
                problems.push(format!("a loop or a branch of {name} is decided by parameters alone"));
            }
            if let Statement::Loop { body, continuing, break_if } = statement {
                let own = Loop { module, function, body, continuing };
                if !own.ends(*break_if) {
                    problems.push(format!("a loop of {name} may not end"));
                }
                if own.first_exit().is_none() {
                    problems.push(format!("a loop of {name} is not left at its beginning"));
                }
            }
        });
    }
    problems
}

/// The loops that the constants of a kernel let go round once at most, of what they leave to be done. SwiftShader keeps the masks
/// of such a loop, and lavapipe walks through some of them once more: without them columns of few rows take 0.6 of the time. They
/// belong behind a branch that the same constants decide.
pub fn loops_of_one_turn(module: &Module) -> Vec<String> {
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    let functions = module.functions.iter().map(|(_, function)| function).chain(entries);
    let mut found = Vec::new();
    for function in functions {
        let name = function.name.as_deref().unwrap_or("main");
        each_that_is_left(module, function, &function.body, &mut |statement| {
            if let Statement::Loop { body, continuing, break_if } = statement {
                let own = Loop { module, function, body, continuing };
                let at_end = break_if.is_some_and(|condition| own.leaves_after_one(condition, true));
                if at_end || own.first_exit().is_some_and(|(condition, leaves)| own.leaves_after_one(condition, leaves))
                {
                    found.push(format!("a loop of {name} takes one turn"));
                }
            }
        });
    }
    found
}

/// Visits the statements that no constant takes out. Whether what follows is one of them.
fn each_that_is_left<'a>(
    module: &Module,
    function: &'a Function,
    block: &'a Block,
    visit: &mut impl FnMut(&'a Statement),
) -> bool {
    for statement in block {
        visit(statement);
        let goes_on = match statement {
            Statement::Return { .. } | Statement::Break | Statement::Continue => false,
            Statement::Block(inner) => each_that_is_left(module, function, inner, visit),
            Statement::If { condition, accept, reject } => match known(module, function, *condition) {
                Some(Literal::Bool(taken)) => {
                    each_that_is_left(module, function, if taken { accept } else { reject }, visit)
                }
                _ => {
                    let accepted = each_that_is_left(module, function, accept, visit);
                    each_that_is_left(module, function, reject, visit) || accepted
                }
            },
            Statement::Loop { body, continuing, .. } => {
                each_that_is_left(module, function, body, visit);
                each_that_is_left(module, function, continuing, visit);
                true
            }
            _ => true,
        };
        if !goes_on {
            return false;
        }
    }
    true
}

/// The value of an expression that constants give one.
fn known(module: &Module, function: &Function, value: Handle<Expression>) -> Option<Literal> {
    match function.expressions[value] {
        Expression::Literal(literal) => Some(literal),
        Expression::Constant(constant) => match module.global_expressions[module.constants[constant].init] {
            Expression::Literal(literal) => Some(literal),
            _ => None,
        },
        Expression::Unary { op: UnaryOperator::LogicalNot, expr } => match known(module, function, expr)? {
            Literal::Bool(own) => Some(Literal::Bool(!own)),
            _ => None,
        },
        Expression::Binary { op, left, right } => {
            use BinaryOperator as Op;
            let (left, right) = (known(module, function, left), known(module, function, right));
            match (op, left, right) {
                (Op::LogicalAnd | Op::And, Some(Literal::Bool(false)), _)
                | (Op::LogicalAnd | Op::And, _, Some(Literal::Bool(false))) => Some(Literal::Bool(false)),
                (Op::LogicalOr | Op::InclusiveOr, Some(Literal::Bool(true)), _)
                | (Op::LogicalOr | Op::InclusiveOr, _, Some(Literal::Bool(true))) => Some(Literal::Bool(true)),
                (Op::Equal, Some(left), Some(right)) => Some(Literal::Bool(left == right)),
                (Op::NotEqual, Some(left), Some(right)) => Some(Literal::Bool(left != right)),
                (Op::Greater, Some(Literal::U32(left)), Some(Literal::U32(right))) => Some(Literal::Bool(left > right)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Bunches of short rows, which may go over a row's runs: their text is so long beside that loop that it stays more than half as
/// long without it.
const LONG: &str = "store_part_";

/// What an expression's value depends on, the most of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Nothing,
    Parameters,
    /// Buffers, invocations, or whatever calls the function.
    Others,
}

/// Where what decides comes from.
struct Decision<'a> {
    module: &'a Module,
    function: &'a Function,
    /// Where what the function is given comes from.
    arguments: Origin,
    /// Variables that are being looked at.
    seen: RefCell<Vec<Handle<LocalVariable>>>,
}

impl<'a> Decision<'a> {
    fn new(module: &'a Module, function: &'a Function, arguments: Origin) -> Self {
        Decision { module, function, arguments, seen: RefCell::default() }
    }

    fn of(&self, value: Handle<Expression>) -> Origin {
        let all =
            |values: &[Handle<Expression>]| values.iter().map(|&own| self.of(own)).max().unwrap_or(Origin::Nothing);
        match self.function.expressions[value] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::Override(_) | Expression::ZeroValue(_) => {
                Origin::Nothing
            }
            Expression::Compose { ref components, .. } => all(components),
            Expression::Unary { expr, .. } | Expression::As { expr, .. } => self.of(expr),
            Expression::Splat { value, .. } | Expression::Swizzle { vector: value, .. } => self.of(value),
            Expression::Binary { left, right, .. } => all(&[left, right]),
            Expression::Select { condition, accept, reject } => all(&[condition, accept, reject]),
            Expression::Math { arg, arg1, arg2, .. } => {
                all(&[Some(arg), arg1, arg2].into_iter().flatten().collect::<Vec<_>>())
            }
            Expression::Load { pointer } => self.of(pointer),
            Expression::AccessIndex { base, .. } => self.of(base),
            Expression::Access { base, index } => all(&[base, index]),
            Expression::GlobalVariable(variable)
                if self.module.global_variables[variable].space == AddressSpace::Uniform =>
            {
                Origin::Parameters
            }
            Expression::LocalVariable(variable) => self.of_variable(variable),
            Expression::FunctionArgument(_) => self.arguments,
            Expression::CallResult(_) => self.of_call(value),
            _ => Origin::Others,
        }
    }

    /// Of what a function returns and all that decides on it, where it is given nothing but parameters.
    fn of_call(&self, call: Handle<Expression>) -> Origin {
        let mut origin = Origin::Others;
        each_statement(&self.function.body, &mut |statement| {
            let Statement::Call { function, arguments, result } = statement else { return };
            let given = || arguments.iter().map(|&own| self.of(own)).max().unwrap_or(Origin::Nothing);
            if *result == Some(call) && given() != Origin::Others {
                let function = &self.module.functions[*function];
                origin = Decision::new(self.module, function, Origin::Parameters).of_result();
            }
        });
        origin
    }

    fn of_result(&self) -> Origin {
        let mut origin = Origin::Nothing;
        each_statement(&self.function.body, &mut |statement| {
            let own = match *statement {
                Statement::Return { value } => value,
                Statement::If { condition, .. } => Some(condition),
                Statement::Loop { break_if, .. } => break_if,
                _ => None,
            };
            origin = own.map_or(Origin::Nothing, |own| self.of(own)).max(origin);
        });
        origin
    }

    /// Of all that a variable is ever set to.
    fn of_variable(&self, variable: Handle<LocalVariable>) -> Origin {
        if self.seen.borrow().contains(&variable) {
            return Origin::Nothing;
        }
        self.seen.borrow_mut().push(variable);
        let mut origin = self.function.local_variables[variable].init.map_or(Origin::Nothing, |init| self.of(init));
        each_statement(&self.function.body, &mut |statement| match *statement {
            Statement::Store { pointer, value } if root(self.function, pointer) == Some(variable) => {
                origin = origin.max(self.of(value));
            }
            Statement::Call { ref arguments, .. }
                if arguments.iter().any(|&argument| root(self.function, argument) == Some(variable)) =>
            {
                origin = Origin::Others;
            }
            _ => {}
        });
        self.seen.borrow_mut().pop();
        origin
    }
}

/// The variable that a pointer leads into.
fn root(function: &Function, pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
    match function.expressions[pointer] {
        Expression::LocalVariable(variable) => Some(variable),
        Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => root(function, base),
        _ => None,
    }
}

struct Loop<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Block,
    continuing: &'a Block,
}

/// What happens to a counter every time round.
enum Step {
    Climbs(u32),
    Divided,
}

impl Loop<'_> {
    fn ends(&self, break_if: Option<Handle<Expression>>) -> bool {
        let at_end = break_if.is_some_and(|condition| self.leaves_in_time(condition, true));
        at_end || self.first_exit().is_some_and(|(condition, leaves)| self.leaves_in_time(condition, leaves))
    }

    /// The test before anything else: what it asks, and the answer that leaves.
    fn first_exit(&self) -> Option<(Handle<Expression>, bool)> {
        let first = self.body.iter().find(|statement| !matches!(statement, Statement::Emit(_)));
        let Some(Statement::If { condition, accept, reject }) = first else { return None };
        match (&accept[..], &reject[..]) {
            ([Statement::Break], _) => Some((*condition, true)),
            (_, [Statement::Break]) => Some((*condition, false)),
            _ => None,
        }
    }

    /// Whether a condition becomes `leaves` sooner or later.
    fn leaves_in_time(&self, condition: Handle<Expression>, leaves: bool) -> bool {
        use BinaryOperator as Op;
        match self.function.expressions[condition] {
            Expression::Unary { op: UnaryOperator::LogicalNot, expr } => self.leaves_in_time(expr, !leaves),
            Expression::Binary { op: Op::LogicalOr | Op::InclusiveOr, left, right } if leaves => {
                self.leaves_in_time(left, true) || self.leaves_in_time(right, true)
            }
            Expression::Binary { op: Op::LogicalAnd | Op::And, left, right } if !leaves => {
                self.leaves_in_time(left, false) || self.leaves_in_time(right, false)
            }
            Expression::Binary { op: Op::GreaterEqual, left, right } if leaves => self.reaches(left, right),
            Expression::Binary { op: Op::Less, left, right } if !leaves => self.reaches(left, right),
            Expression::Binary { op: Op::Greater, left, right } if !leaves && self.literal(right) == Some(0) => {
                matches!(self.counter(left).and_then(|counter| self.step(counter)), Some(Step::Divided))
            }
            _ => false,
        }
    }

    /// Whether a condition is `leaves` after the first turn, whatever buffers and parameters hold.
    fn leaves_after_one(&self, condition: Handle<Expression>, leaves: bool) -> bool {
        use BinaryOperator as Op;
        if known(self.module, self.function, condition) == Some(Literal::Bool(leaves)) {
            return true;
        }
        match self.function.expressions[condition] {
            Expression::Unary { op: UnaryOperator::LogicalNot, expr } => self.leaves_after_one(expr, !leaves),
            Expression::Binary { op: Op::LogicalOr | Op::InclusiveOr, left, right } if leaves => {
                self.leaves_after_one(left, true) || self.leaves_after_one(right, true)
            }
            Expression::Binary { op: Op::LogicalAnd | Op::And, left, right } if !leaves => {
                self.leaves_after_one(left, false) || self.leaves_after_one(right, false)
            }
            Expression::Binary { op: Op::GreaterEqual, left, right } if leaves => self.steps_over(left, right),
            Expression::Binary { op: Op::Less, left, right } if !leaves => self.steps_over(left, right),
            _ => false,
        }
    }

    /// Whether a counter is no less than a number after a step, wherever it begins.
    fn steps_over(&self, counted: Handle<Expression>, bound: Handle<Expression>) -> bool {
        let Some((variable, bound)) = self.counter(counted).zip(self.literal(bound)) else { return false };
        let begin = self.function.local_variables[variable].init.and_then(|init| self.literal(init)).unwrap_or(0);
        matches!(self.step(variable), Some(Step::Climbs(step)) if begin.saturating_add(step) >= bound)
    }

    fn reaches(&self, counted: Handle<Expression>, bound: Handle<Expression>) -> bool {
        let counter = match self.function.expressions[counted] {
            Expression::Binary { op: BinaryOperator::Add, left, right } if self.literal(right).is_some() => left,
            _ => counted,
        };
        let step = self.counter(counter).and_then(|counter| self.step(counter));
        matches!(step, Some(Step::Climbs(step)) if self.most(bound) <= u32::MAX - (step - 1))
    }

    /// The variable that an expression is the value of, read anew every time round.
    fn counter(&self, value: Handle<Expression>) -> Option<Handle<LocalVariable>> {
        let Expression::Load { pointer } = self.function.expressions[value] else { return None };
        let Expression::LocalVariable(variable) = self.function.expressions[pointer] else { return None };
        let TypeInner::Scalar(Scalar::U32) = self.module.types[self.function.local_variables[variable].ty].inner else {
            return None;
        };
        self.evaluates(value).then_some(variable)
    }

    /// What the loop does to a variable, if it is one thing, and done every time round.
    fn step(&self, variable: Handle<LocalVariable>) -> Option<Step> {
        let value = self.continuing.iter().find_map(|statement| match *statement {
            Statement::Store { pointer, value } if root(self.function, pointer) == Some(variable) => Some(value),
            _ => None,
        })?;
        if self.changes(variable) != 1 || !self.evaluates(value) {
            return None;
        }
        let Expression::Binary { op, left, right } = self.function.expressions[value] else { return None };
        match (op, self.literal(right)?) {
            _ if self.counter(left) != Some(variable) => None,
            (BinaryOperator::Add, step @ 1..) => Some(Step::Climbs(step)),
            (BinaryOperator::Divide, 2..) => Some(Step::Divided),
            _ => None,
        }
    }

    /// How many statements of the loop may change a variable.
    fn changes(&self, variable: Handle<LocalVariable>) -> usize {
        let mut changes = 0;
        self.each_statement(&mut |statement| {
            changes += usize::from(match statement {
                Statement::Store { pointer, .. } => root(self.function, *pointer) == Some(variable),
                Statement::Call { arguments, .. } => {
                    arguments.iter().any(|&argument| root(self.function, argument) == Some(variable))
                }
                _ => false,
            });
        });
        changes
    }

    /// An upper bound of an expression's value.
    fn most(&self, value: Handle<Expression>) -> u32 {
        match self.function.expressions[value] {
            Expression::Math { fun: MathFunction::Min, arg, arg1: Some(arg1), .. } => {
                self.most(arg).min(self.most(arg1))
            }
            _ => self.literal(value).unwrap_or(u32::MAX),
        }
    }

    fn literal(&self, value: Handle<Expression>) -> Option<u32> {
        match known(self.module, self.function, value)? {
            Literal::U32(literal) => Some(literal),
            _ => None,
        }
    }

    /// Whether an expression is evaluated in the loop, every time round, and not before it.
    fn evaluates(&self, value: Handle<Expression>) -> bool {
        let mut evaluates = false;
        self.each_statement(&mut |statement| {
            evaluates |= match statement {
                Statement::Emit(range) => range.clone().any(|emitted| emitted == value),
                Statement::Call { result, .. } => *result == Some(value),
                _ => false,
            };
        });
        evaluates
    }

    fn each_statement(&self, visit: &mut impl FnMut(&Statement)) {
        each_statement(self.body, visit);
        each_statement(self.continuing, visit);
    }
}

pub fn each_statement<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Statement)) {
    for statement in block {
        visit(statement);
        match statement {
            Statement::Block(inner) => each_statement(inner, visit),
            Statement::If { accept, reject, .. } => {
                each_statement(accept, visit);
                each_statement(reject, visit);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| each_statement(&case.body, visit)),
            Statement::Loop { body, continuing, .. } => {
                each_statement(body, visit);
                each_statement(continuing, visit);
            }
            _ => {}
        }
    }
}
