//! Values of WGSL, each number with the input words that it came of.

use std::rc::Rc;

use naga::{Literal, ScalarKind};

use super::origin::{Origin, Origins};

/// A number or a truth value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    pub kind: Kind,
    pub bits: u32,
    pub origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    U32,
    I32,
    Bool,
}

impl Kind {
    pub fn of(kind: ScalarKind) -> Kind {
        match kind {
            ScalarKind::Uint => Kind::U32,
            ScalarKind::Sint => Kind::I32,
            ScalarKind::Bool => Kind::Bool,
            other => panic!("no shader here has {other:?}"),
        }
    }
}

impl Scalar {
    pub fn new(kind: Kind, bits: u32) -> Scalar {
        Scalar { kind, bits, origin: Origin::NONE }
    }

    pub fn u32(bits: u32) -> Scalar {
        Scalar::new(Kind::U32, bits)
    }

    pub fn literal(literal: Literal) -> Scalar {
        match literal {
            Literal::U32(n) => Scalar::u32(n),
            Literal::I32(n) => Scalar::new(Kind::I32, n as u32),
            Literal::Bool(b) => Scalar::new(Kind::Bool, b.into()),
            other => panic!("no shader here has {other:?}"),
        }
    }

    pub fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// Where a pointer leads: a variable of the invocation, one of the workgroup, or a binding; then into it.
#[derive(Clone, Copy, Debug)]
pub struct Pointer {
    pub root: Root,
    pub path: [u32; 6],
    pub depth: usize,
    /// What decided where it points.
    pub origin: Origin,
}

#[derive(Clone, Copy, Debug)]
pub enum Root {
    /// On the invocation's stack.
    Local(usize),
    /// The number of a global variable.
    Global(usize),
}

impl Pointer {
    pub fn new(root: Root) -> Pointer {
        Pointer { root, path: [0; 6], depth: 0, origin: Origin::NONE }
    }

    pub fn into_member(mut self, index: u32) -> Pointer {
        self.path[self.depth] = index;
        self.depth += 1;
        self
    }

    pub fn steps(&self) -> &[u32] {
        &self.path[..self.depth]
    }
}

#[derive(Clone, Debug)]
pub enum Value {
    Scalar(Scalar),
    Vector([Scalar; 4], usize),
    /// Shared, until a member is set: values are handed on far more often than that.
    Composite(Rc<Vec<Value>>),
    Pointer(Pointer),
    /// Not evaluated yet.
    None,
}

impl Value {
    pub fn scalar(&self) -> Scalar {
        match self {
            Value::Scalar(scalar) => *scalar,
            other => panic!("no scalar: {other:?}"),
        }
    }

    pub fn pointer(&self) -> Pointer {
        match self {
            Value::Pointer(pointer) => *pointer,
            other => panic!("no pointer: {other:?}"),
        }
    }

    pub fn composite(members: impl IntoIterator<Item = Value>) -> Value {
        Value::Composite(Rc::new(members.into_iter().collect()))
    }

    pub fn vector(components: impl IntoIterator<Item = Scalar>) -> Value {
        let mut own = [Scalar::u32(0); 4];
        let mut len = 0;
        for component in components {
            own[len] = component;
            len += 1;
        }
        Value::Vector(own, len)
    }

    /// Component by component, as most operators go.
    pub fn map(&self, mut f: impl FnMut(Scalar) -> Scalar) -> Value {
        match self {
            Value::Scalar(own) => Value::Scalar(f(*own)),
            Value::Vector(own, len) => Value::vector(own[..*len].iter().map(|&own| f(own))),
            other => panic!("not by components: {other:?}"),
        }
    }

    /// The same with two operands; a scalar goes with every component of a vector.
    pub fn zip(&self, other: &Value, mut f: impl FnMut(Scalar, Scalar) -> Scalar) -> Value {
        match (self, other) {
            (Value::Vector(a, len), Value::Vector(b, _)) => {
                Value::vector(a[..*len].iter().zip(b).map(|(&a, &b)| f(a, b)))
            }
            (_, Value::Scalar(b)) => self.map(|a| f(a, *b)),
            (Value::Scalar(a), _) => other.map(|b| f(*a, b)),
            other => panic!("not by components: {other:?}"),
        }
    }

    pub fn member(&self, index: usize) -> Value {
        match self {
            Value::Vector(own, len) if index < *len => Value::Scalar(own[index]),
            Value::Composite(own) if index < own.len() => own[index].clone(),
            other => panic!("member {index} of {other:?}"),
        }
    }

    pub fn at(&self, steps: &[u32]) -> Value {
        match steps {
            [] => self.clone(),
            [first, rest @ ..] => match self {
                Value::Composite(own) => own[*first as usize].at(rest),
                _ => self.member(*first as usize).at(rest),
            },
        }
    }

    pub fn set(&mut self, steps: &[u32], value: Value) {
        match (steps, self) {
            ([], own) => *own = value,
            ([first, rest @ ..], Value::Composite(own)) => Rc::make_mut(own)[*first as usize].set(rest, value),
            ([first], Value::Vector(own, len)) if (*first as usize) < *len => own[*first as usize] = value.scalar(),
            (steps, own) => panic!("{steps:?} of {own:?}"),
        }
    }

    /// Whatever is in it came of these words too.
    pub fn stained(mut self, origin: Origin, origins: &mut Origins) -> Value {
        if origin == Origin::NONE {
            return self;
        }
        match &mut self {
            Value::Scalar(own) => own.origin = origins.both(own.origin, origin),
            Value::Vector(own, len) => {
                own[..*len].iter_mut().for_each(|own| own.origin = origins.both(own.origin, origin));
            }
            Value::Composite(own) => {
                let stain = |own: &mut Value| *own = std::mem::replace(own, Value::None).stained(origin, origins);
                Rc::make_mut(own).iter_mut().for_each(stain);
            }
            Value::Pointer(_) | Value::None => {}
        }
        self
    }
}
