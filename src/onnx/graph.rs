//! A graph with every type and shape worked out.

use crate::{Error, Operation, Tensor, TensorType};

/// A model's graph for one set of inputs: operations on numbered values, in order.
///
/// `Graph::run` records all of it in one submission; [`Graph::reference`] answers on the CPU.
pub struct Graph {
    pub(super) values: Vec<Value>,
    pub(super) steps: Vec<Step>,
    /// The values that are the outputs.
    pub(super) outputs: Vec<usize>,
}

/// A value: given, or written by a step.
pub(super) enum Value {
    Known(Tensor),
    Made(TensorType),
}

impl Value {
    pub fn tensor_type(&self) -> &TensorType {
        match self {
            Value::Known(tensor) => tensor.tensor_type(),
            Value::Made(tensor_type) => tensor_type,
        }
    }

    pub fn known(&self) -> Option<&Tensor> {
        match self {
            Value::Known(tensor) => Some(tensor),
            Value::Made(_) => None,
        }
    }
}

/// An operation, the values that it reads and the one that it writes.
pub(super) struct Step {
    pub operation: Box<dyn Operation>,
    pub inputs: Vec<usize>,
    pub output: usize,
}

impl Graph {
    /// Types and shapes of the outputs.
    pub fn outputs(&self) -> impl Iterator<Item = &TensorType> {
        self.outputs.iter().map(|&id| self.values[id].tensor_type())
    }

    /// The operations, in the order they run.
    pub fn operations(&self) -> impl Iterator<Item = &dyn Operation> {
        self.steps.iter().map(|step| step.operation.as_ref())
    }

    /// The outputs, from the definition, on the CPU.
    ///
    /// # Errors
    /// Those of [`Operation::reference`].
    pub fn reference(&self) -> Result<Vec<Tensor>, Error> {
        let mut made: Vec<Option<Tensor>> = vec![None; self.values.len()];
        for step in &self.steps {
            let inputs: Vec<&Tensor> = step.inputs.iter().filter_map(|&id| self.value(&made, id)).collect();
            made[step.output] = step.operation.reference(&inputs)?.pop();
        }
        Ok(self.outputs.iter().filter_map(|&id| self.value(&made, id)).cloned().collect())
    }

    fn value<'a>(&'a self, made: &'a [Option<Tensor>], id: usize) -> Option<&'a Tensor> {
        self.values[id].known().or(made[id].as_ref())
    }
}
