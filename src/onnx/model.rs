//! A model: decoded, its names checked.

use std::collections::{HashMap, HashSet};

use super::graph::{Graph, Step, Value};
use super::node::{Operand, operation};
use super::proto::{GraphProto, ModelProto, NodeProto, ValueInfoProto};
use super::{error, proto, tensor};
use crate::{DType, Error, Tensor};

/// A model whose graph is made of this crate's operators.
#[derive(Clone, Debug)]
pub struct Model {
    opset: u64,
    inputs: Vec<Input>,
    initializers: HashMap<String, Tensor>,
    nodes: Vec<NodeProto>,
    outputs: Vec<String>,
    max_bytes: u64,
}

/// What the model declares of an input.
#[derive(Clone, Debug)]
struct Input {
    name: String,
    dtype: Option<DType>,
    /// The sizes that are known, if the rank is.
    shape: Option<Vec<Option<u64>>>,
}

impl Model {
    /// A model from the bytes of its file.
    ///
    /// # Errors
    /// [`Error::Onnx`]: the bytes are no such message, there is no graph or no operator set of ONNX's own domain, an
    /// initializer is wrong, or a name is given to two values or to none.
    pub fn decode(bytes: &[u8]) -> Result<Model, Error> {
        Model::new(proto::decode(bytes)?)
    }

    /// A model from its message.
    ///
    /// # Errors
    /// As [`Model::decode`].
    pub fn new(proto: ModelProto) -> Result<Model, Error> {
        let opset = opset(&proto)?;
        let graph = proto.graph.ok_or_else(|| error("model", "it has no graph"))?;
        check_names(&graph)?;
        if !graph.sparse_initializer.is_empty() {
            return Err(error("graph", "sparse initializers are not supported"));
        }
        let mut initializers = HashMap::new();
        for tensor in &graph.initializer {
            initializers.insert(tensor.name.clone(), Tensor::try_from(tensor)?);
        }
        Ok(Model {
            opset,
            inputs: graph.input.iter().map(Input::new).collect::<Result<_, _>>()?,
            initializers,
            nodes: graph.node,
            outputs: graph.output.into_iter().map(|output| output.name).collect(),
            max_bytes: 4 << 30,
        })
    }

    /// The most bytes that all values which nodes write may have together, their shapes counted too: 4 GiB unless said
    /// otherwise. A file of a few bytes can ask for any number of them, by broadcasting or by reducing nothing.
    pub fn max_bytes(mut self, max_bytes: u64) -> Model {
        self.max_bytes = max_bytes;
        self
    }

    /// The names of the inputs that a run must give, in order: those that have no initializer as their default.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.required_inputs().map(|input| input.name.as_str())
    }

    /// The names of the outputs, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.outputs.iter().map(String::as_str)
    }

    /// The graph for these inputs, in the order of [`Model::inputs`]: every type and shape worked out, every node
    /// resolved to an operation.
    ///
    /// # Errors
    /// [`Error::WrongCount`] and [`Error::Onnx`] for inputs that are not what the model declares; [`Error::Node`] for a
    /// node that is wrong; [`Error::TooLarge`] past [`Model::max_bytes`].
    pub fn graph(&self, inputs: Vec<Tensor>) -> Result<Graph, Error> {
        let required = self.required_inputs().count();
        if inputs.len() != required {
            return Err(Error::WrongCount { what: "inputs", given: inputs.len(), expected: required });
        }
        let mut values = Values::default();
        for (name, tensor) in &self.initializers {
            values.add(name, Value::Known(tensor.clone()));
        }
        for (input, tensor) in self.required_inputs().zip(inputs) {
            input.check(&tensor)?;
            values.add(&input.name, Value::Known(tensor));
        }
        let mut steps = Vec::with_capacity(self.nodes.len());
        let mut left = self.max_bytes;
        for (n, node) in self.nodes.iter().enumerate() {
            let step = self.step(node, &mut values, &mut left);
            steps.push(step.map_err(|error| Error::Node { node: describe(n, node), error: error.into() })?);
        }
        let outputs = self.outputs.iter().map(|name| values.named(name)).collect::<Result<_, _>>()?;
        Ok(Graph { values: values.values, steps, outputs })
    }

    /// The step that a node is; adds its output to the values.
    fn step(&self, node: &NodeProto, values: &mut Values, left: &mut u64) -> Result<Step, Error> {
        let named = |name: &String| if name.is_empty() { Ok(None) } else { values.named(name).map(Some) };
        let mut ids: Vec<Option<usize>> = node.input.iter().map(named).collect::<Result<_, _>>()?;
        while ids.last() == Some(&None) {
            ids.pop(); // optional inputs left out at the end
        }
        let operand =
            |id: usize| Operand { tensor_type: values.values[id].tensor_type(), known: values.values[id].known() };
        let operands: Vec<Option<Operand<'_>>> = ids.iter().map(|id| id.map(operand)).collect();
        let operation = operation(node, self.opset, &operands)?;
        let ([name], Some(tensor_type)) = (node.output.as_slice(), operation.outputs()?.pop()) else {
            return Err(Error::WrongCount { what: "outputs", given: node.output.len(), expected: 1 });
        };
        let sizes = operands.iter().flatten().map(|operand| operand.tensor_type.shape.len()).sum::<usize>();
        let bytes = tensor_type.bytes().unwrap_or(u64::MAX).saturating_add(8 * sizes as u64);
        *left = left.checked_sub(bytes).ok_or(Error::TooLarge {
            what: "bytes of all values that nodes write",
            given: (self.max_bytes - *left).saturating_add(bytes),
            limit: self.max_bytes,
        })?;
        let inputs = ids.into_iter().flatten().take(operation.inputs()?.len()).collect();
        let output = values.add(name, Value::Made(tensor_type));
        Ok(Step { operation, inputs, output })
    }

    fn required_inputs(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter().filter(|input| !self.initializers.contains_key(&input.name))
    }
}

/// A node's place, its name if it has one, and its operator.
fn describe(n: usize, node: &NodeProto) -> String {
    if node.name.is_empty() {
        format!("{n} ({})", node.op_type)
    } else {
        format!("{n} {:?} ({})", node.name, node.op_type)
    }
}

/// The version of ONNX's own operators that the model imports.
fn opset(proto: &ModelProto) -> Result<u64, Error> {
    let mut own = proto.opset_import.iter().filter(|import| matches!(import.domain.as_str(), "" | "ai.onnx"));
    let version = match (own.next(), own.next()) {
        (Some(import), None) => import.version,
        (None, _) => return Err(error("model", "it imports no operator set of ONNX's own domain")),
        (Some(_), Some(_)) => return Err(error("model", "it imports ONNX's own operator set twice")),
    };
    version.try_into().map_err(|_| error("model", format!("it imports operator set {version}")))
}

/// Every value is given a name once.
fn check_names(graph: &GraphProto) -> Result<(), Error> {
    let mut seen = HashSet::new();
    let mut once = |kind: &str, name: &str| match (name, seen.insert(name.to_string())) {
        ("", _) => Err(error(kind, "it has no name")),
        (_, false) => Err(error(format!("{kind} {name:?}"), "a value before it has the same name")),
        (_, true) => Ok(()),
    };
    graph.input.iter().try_for_each(|input| once("input", &input.name))?;
    graph.node.iter().flat_map(|node| &node.output).try_for_each(|name| once("output of a node", name))?;
    // An initializer may be an input's default, so only the other initializers and the nodes' outputs count here.
    let inputs: HashSet<&str> = graph.input.iter().map(|input| input.name.as_str()).collect();
    let mut own = HashSet::new();
    graph.initializer.iter().try_for_each(|tensor| {
        let fresh = own.insert(tensor.name.as_str());
        match inputs.contains(tensor.name.as_str()) {
            true if fresh => Ok(()),
            true => Err(error(format!("initializer {:?}", tensor.name), "it is given twice")),
            false => once("initializer", &tensor.name),
        }
    })
}

impl Input {
    fn new(proto: &ValueInfoProto) -> Result<Input, Error> {
        let place = format!("input {:?}", proto.name);
        let declared = proto.r#type.as_ref().map(|declared| {
            declared
                .tensor_type
                .as_ref()
                .ok_or_else(|| error(place.as_str(), "it is no tensor, which is not supported"))
        });
        let Some(declared) = declared.transpose()? else {
            return Ok(Input { name: proto.name.clone(), dtype: None, shape: None });
        };
        let dtype = match declared.elem_type {
            0 => None,
            data_type => Some(tensor::dtype(&place, data_type)?),
        };
        let size = |dim: &proto::DimensionProto| dim.dim_value.and_then(|size| u64::try_from(size).ok());
        let shape = declared.shape.as_ref().map(|shape| shape.dim.iter().map(size).collect());
        Ok(Input { name: proto.name.clone(), dtype, shape })
    }

    fn check(&self, tensor: &Tensor) -> Result<(), Error> {
        let fits = |shape: &Vec<Option<u64>>| {
            let same = |(declared, given): (&Option<u64>, &u64)| declared.is_none_or(|size| size == *given);
            shape.len() == tensor.shape().len() && shape.iter().zip(tensor.shape()).all(same)
        };
        if self.dtype.is_none_or(|dtype| dtype == tensor.dtype()) && self.shape.as_ref().is_none_or(fits) {
            return Ok(());
        }
        let dtype = self.dtype.map_or("any type".into(), |dtype| dtype.to_string());
        let size = |size: &Option<u64>| size.map_or("?".into(), |size| size.to_string());
        let shape = self.shape.as_ref().map(|shape| shape.iter().map(size).collect::<Vec<_>>().join(", "));
        let shape = shape.map_or("any shape".into(), |shape| format!("shape [{shape}]"));
        let given =
            format!("type {} and shape {:?} given, {dtype} and {shape} expected", tensor.dtype(), tensor.shape());
        Err(error(format!("input {:?}", self.name), given))
    }
}

/// The values of a graph, by name.
#[derive(Default)]
struct Values {
    values: Vec<Value>,
    ids: HashMap<String, usize>,
}

impl Values {
    fn add(&mut self, name: &str, value: Value) -> usize {
        self.values.push(value);
        self.ids.insert(name.into(), self.values.len() - 1);
        self.values.len() - 1
    }

    fn named(&self, name: &str) -> Result<usize, Error> {
        let missing = || error(format!("value {name:?}"), "no input, initializer or node before gives it");
        self.ids.get(name).copied().ok_or_else(missing)
    }
}
