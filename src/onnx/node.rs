//! Nodes to operations.

use super::error;
use super::proto::{AttributeProto, NodeProto};
use crate::dialect::onnx::{ArgMax, Hardmax, Max, ReduceMax, Version};
use crate::{Error, Operation, Tensor, TensorType, View};

/// An input of a node.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// Its type. It is contiguous and row-major.
    pub tensor_type: &'a TensorType,
    /// Its elements, if they are known before anything runs.
    pub known: Option<&'a Tensor>,
}

/// The operation of a node in a model that imports this operator set of ONNX's own domain. `inputs` are the node's, in
/// its order; one that the node leaves out is `None`.
///
/// The operation's inputs are those of them that hold data: the `axes` of ReduceMax must be known, and are not among
/// them.
///
/// # Errors
/// [`Error::Onnx`] for an operator that is not known, inputs too few or too many, of different types, or an attribute of
/// the wrong kind; those of the [dialect](crate::dialect::onnx) and of the operation.
pub fn operation(node: &NodeProto, opset: u64, inputs: &[Option<Operand<'_>>]) -> Result<Box<dyn Operation>, Error> {
    if !matches!(node.domain.as_str(), "" | "ai.onnx") {
        return Err(error("operator", format!("{}.{} is not supported", node.domain, node.op_type)));
    }
    let operation: Box<dyn Operation> = match node.op_type.as_str() {
        "ReduceMax" => Box::new(reduce_max(node, opset, inputs)?),
        "ArgMax" => Box::new(arg_max(node, opset, inputs)?),
        "Hardmax" => Box::new(hardmax(node, opset, inputs)?),
        "Max" => Box::new(max(node, opset, inputs)?),
        other => {
            let problem = format!("{other:?} is not supported, only ReduceMax, ArgMax, Hardmax and Max");
            return Err(error("operator", problem));
        }
    };
    operation.outputs()?; // whatever is still wrong is found here
    Ok(operation)
}

type Operands<'a> = [Option<Operand<'a>>];

fn reduce_max(node: &NodeProto, opset: u64, inputs: &Operands<'_>) -> Result<crate::ReduceMax, Error> {
    let data = first(inputs, if opset < 18 { 1 } else { 2 })?.tensor_type; // axes came as an attribute before
    let mut attributes = Attributes::new(node)?;
    let dialect = ReduceMax {
        axes: attributes.ints("axes")?,
        axes_input: inputs.get(1).copied().flatten().map(known_axes).transpose()?,
        keepdims: attributes.flag("keepdims")?,
        noop_with_empty_axes: attributes.flag("noop_with_empty_axes")?,
    };
    attributes.none_left(ReduceMax::VERSIONS)?;
    dialect.resolve(opset, data.dtype, view(data)?)
}

fn known_axes(axes: Operand<'_>) -> Result<Tensor, Error> {
    let computed = || error("input axes", "its elements come out of a node, they must be known before the graph runs");
    axes.known.cloned().ok_or_else(computed)
}

fn arg_max(node: &NodeProto, opset: u64, inputs: &Operands<'_>) -> Result<crate::ArgMax, Error> {
    let mut attributes = Attributes::new(node)?;
    let dialect = ArgMax {
        axis: attributes.int("axis")?,
        keepdims: attributes.flag("keepdims")?,
        select_last_index: attributes.flag("select_last_index")?,
    };
    attributes.none_left(ArgMax::VERSIONS)?;
    let data = first(inputs, 1)?.tensor_type;
    dialect.resolve(opset, data.dtype, view(data)?)
}

fn hardmax(node: &NodeProto, opset: u64, inputs: &Operands<'_>) -> Result<crate::Hardmax, Error> {
    let mut attributes = Attributes::new(node)?;
    let dialect = Hardmax { axis: attributes.int("axis")? };
    attributes.none_left(Hardmax::VERSIONS)?;
    let data = first(inputs, 1)?.tensor_type;
    dialect.resolve(opset, data.dtype, view(data)?)
}

fn max(node: &NodeProto, opset: u64, inputs: &Operands<'_>) -> Result<crate::Max, Error> {
    let mut attributes = Attributes::new(node)?;
    let dialect = Max { consumed_inputs: attributes.ints("consumed_inputs")? };
    attributes.none_left(Max::VERSIONS)?;
    let expected = first(inputs, usize::MAX)?.tensor_type.dtype;
    let mut views = Vec::with_capacity(inputs.len());
    for (input, operand) in inputs.iter().enumerate() {
        let data = operand.ok_or_else(|| error(format!("input {input}"), "it is left out, but not optional"))?;
        let given = data.tensor_type.dtype;
        if given != expected {
            return Err(Error::TypeMismatch { tensor: format!("input {input}"), given, expected });
        }
        views.push(view(data.tensor_type)?);
    }
    dialect.resolve(opset, expected, views)
}

/// Input 0, of `most` at most. What is left out at the end is none.
fn first<'a>(inputs: &Operands<'a>, most: usize) -> Result<Operand<'a>, Error> {
    let given = inputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    if given > most {
        return Err(Error::WrongCount { what: "inputs", given, expected: most });
    }
    inputs.first().copied().flatten().ok_or_else(|| error("input 0", "it is left out, but not optional"))
}

fn view(tensor_type: &TensorType) -> Result<View, Error> {
    View::new(tensor_type.shape.as_slice())
}

/// A node's attributes, taken out one by one.
struct Attributes<'a> {
    operator: &'a str,
    left: Vec<&'a AttributeProto>,
}

impl<'a> Attributes<'a> {
    fn new(node: &'a NodeProto) -> Result<Attributes<'a>, Error> {
        let mut left: Vec<&AttributeProto> = node.attribute.iter().collect();
        left.sort_by_key(|attribute| attribute.name.as_str());
        match left.windows(2).find(|pair| pair[0].name == pair[1].name) {
            Some(pair) => Err(error(format!("attribute {:?}", pair[0].name), "it is given twice")),
            None => Ok(Attributes { operator: &node.op_type, left }),
        }
    }

    /// An attribute of this name; its kind must be `kind`, or unsaid as in early files.
    fn take(&mut self, name: &str, kind: i32, expected: &'static str) -> Result<Option<&'a AttributeProto>, Error> {
        let Some(at) = self.left.iter().position(|attribute| attribute.name == name) else {
            return Ok(None);
        };
        let attribute = self.left.remove(at);
        if !attribute.ref_attr_name.is_empty() {
            return Err(self.wrong_value(name, "a reference to a function's attribute".into(), expected));
        }
        if attribute.r#type != kind && attribute.r#type != 0 {
            return Err(self.wrong_value(name, format!("of kind {}", attribute.r#type), expected));
        }
        let AttributeProto { f, i, s, floats, ints, strings, t, .. } = attribute;
        let others = [
            (kind != AttributeProto::INT && *i != 0, "an integer"),
            (kind != AttributeProto::INTS && !ints.is_empty(), "a list of integers"),
            (*f != 0.0, "a number"),
            (!floats.is_empty(), "a list of numbers"),
            (!s.is_empty() || !strings.is_empty(), "text"),
            (t.is_some(), "a tensor"),
        ];
        match others.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, given)) => Err(self.wrong_value(name, given.into(), expected)),
            None => Ok(Some(attribute)),
        }
    }

    fn int(&mut self, name: &str) -> Result<Option<i64>, Error> {
        Ok(self.take(name, AttributeProto::INT, "an integer (kind 2)")?.map(|attribute| attribute.i))
    }

    fn ints(&mut self, name: &str) -> Result<Option<Vec<i64>>, Error> {
        Ok(self
            .take(name, AttributeProto::INTS, "a list of integers (kind 7)")?
            .map(|attribute| attribute.ints.clone()))
    }

    fn flag(&mut self, name: &str) -> Result<Option<bool>, Error> {
        match self.int(name)? {
            None => Ok(None),
            Some(value @ (0 | 1)) => Ok(Some(value == 1)),
            Some(value) => Err(self.wrong_value(name, value.to_string(), "0 or 1")),
        }
    }

    fn wrong_value(&self, attribute: &str, given: String, expected: &'static str) -> Error {
        Error::AttributeValue { operator: self.operator.into(), attribute: attribute.into(), given, expected }
    }

    /// An error for an attribute that no version of the operator has.
    fn none_left(&self, versions: &[Version]) -> Result<(), Error> {
        let Some(attribute) = self.left.first() else {
            return Ok(());
        };
        let mut known: Vec<&str> = versions.iter().flat_map(|version| version.attributes).copied().collect();
        known.sort_unstable();
        known.dedup();
        let problem = format!("{} has none of this name in any version, only {}", self.operator, known.join(" "));
        Err(error(format!("attribute {:?}", attribute.name), problem))
    }
}
