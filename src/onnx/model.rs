//! A model: decoded, its names checked.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use super::graph::{Graph, Step, Value};
use super::node::{Operand, operation};
use super::proto::{GraphProto, ModelProto, NodeProto, ValueInfoProto};
use super::{error, proto, tensor};
use crate::error::list;
use crate::{DType, Error, Operation, Tensor, TensorType};

/// A model whose graph is made of this crate's operators.
#[derive(Clone, Debug)]
pub struct Model {
    opset: u64,
    inputs: Vec<String>,
    initializers: BTreeMap<String, Tensor>, // in order: of two that are wrong always the same one is told
    nodes: Vec<NodeProto>,
    outputs: Vec<String>,
    declarations: Declarations,
    max_bytes: u64,
}

/// What the file says of a value.
#[derive(Clone, Debug)]
struct Declaration {
    /// As what: "input", "output" or "value".
    kind: &'static str,
    dtype: Option<DType>,
    /// The sizes that are known, if the rank is.
    shape: Option<Vec<Option<u64>>>,
}

/// By the value's name; one may be declared more than once.
type Declarations = HashMap<String, Vec<Declaration>>;

impl Model {
    /// A model from the bytes of its file.
    ///
    /// # Errors
    /// [`Error::Onnx`]: the bytes are no such message, there is no graph or no operator set of ONNX's own domain, an
    /// initializer is wrong, a name is given to two values or to none, or an output is listed twice.
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
        let declarations = declarations(&graph, &names(&graph)?)?;
        if !graph.sparse_initializer.is_empty() {
            return Err(error("graph", "sparse initializers are not supported"));
        }
        let mut initializers = BTreeMap::new();
        for tensor in &graph.initializer {
            initializers.insert(tensor.name.clone(), Tensor::try_from(tensor)?);
        }
        Ok(Model {
            opset,
            inputs: graph.input.into_iter().map(|input| input.name).collect(),
            initializers,
            nodes: graph.node,
            outputs: graph.output.into_iter().map(|output| output.name).collect(),
            declarations,
            max_bytes: 4 << 30,
        })
    }

    /// The most bytes that all values which nodes write may have together: 4 GiB unless said otherwise. A file of a few bytes can ask for any number of them, by broadcasting or by reducing nothing.
    pub fn max_bytes(mut self, max_bytes: u64) -> Model {
        self.max_bytes = max_bytes;
        self
    }

    /// The names of the inputs that a run must give, in order: those that have no initializer as their default.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().map(String::as_str).filter(|name| !self.initializers.contains_key(*name))
    }

    /// The names of the outputs, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.outputs.iter().map(String::as_str)
    }

    /// The graph for these inputs, in the order of [`Model::inputs`]: every type and shape worked out, every node
    /// resolved to an operation.
    ///
    /// # Errors
    /// [`Error::WrongCount`] for more inputs or fewer; [`Error::Onnx`] for inputs and initializers that are not what the
    /// model declares; [`Error::Node`] for a node that is wrong, writes what is not declared, or goes past
    /// [`Model::max_bytes`].
    pub fn graph(&self, inputs: Vec<Tensor>) -> Result<Graph, Error> {
        let required = self.inputs().count();
        if inputs.len() != required {
            return Err(Error::WrongCount { what: "inputs", given: inputs.len(), expected: required });
        }
        let mut values = Values { values: vec![], ids: HashMap::new(), declarations: &self.declarations };
        for (name, tensor) in &self.initializers {
            values.add(name, Value::Known(tensor.clone()))?;
        }
        for (name, tensor) in self.inputs().zip(inputs) {
            values.add(name, Value::Known(tensor))?;
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
    fn step<'a>(&self, node: &'a NodeProto, values: &mut Values<'a>, left: &mut u64) -> Result<Step, Error> {
        let named = |name: &String| if name.is_empty() { Ok(None) } else { values.named(name).map(Some) };
        let mut ids: Vec<Option<usize>> = node.input.iter().map(named).collect::<Result<_, _>>()?;
        let operation = match repeated(node, &ids) {
            None => values.operation(node, self.opset, &ids)?,
            Some(once) => match values.operation(node, self.opset, &once) {
                Ok(operation) => {
                    ids = once;
                    operation
                }
                Err(_) => values.operation(node, self.opset, &ids)?, // an error counts inputs as the file does
            },
        };
        let ([name], Some(tensor_type)) = (node.output.as_slice(), operation.outputs()?.pop()) else {
            return Err(Error::WrongCount { what: "outputs", given: node.output.len(), expected: 1 });
        };
        let bytes = tensor_type.bytes().unwrap_or(u64::MAX);
        *left = left.checked_sub(bytes).ok_or(Error::TooLarge {
            what: "bytes of all values that nodes write",
            given: (self.max_bytes - *left).saturating_add(bytes),
            limit: self.max_bytes,
        })?;
        let inputs = ids.into_iter().flatten().take(operation.inputs()?.len()).collect();
        let output = values.add(name, Value::Made(tensor_type))?;
        Ok(Step { operation, inputs, output })
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
    let known = u64::try_from(version).ok().filter(|&version| version > 0);
    known.ok_or_else(|| error("model", format!("it imports operator set {version}, 1 or more expected")))
}

/// The names of all values: each is given to one of them, and no output is listed twice.
fn names(graph: &GraphProto) -> Result<HashSet<&str>, Error> {
    let mut seen = HashSet::new();
    let mut once = |kind: &str, name| match (name, seen.insert(name)) {
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
    })?;
    let mut outputs = HashSet::new();
    match graph.output.iter().find(|output| !outputs.insert(output.name.as_str())) {
        Some(output) => Err(error(format!("output {:?}", output.name), "it is listed twice")),
        None => Ok(seen),
    }
}

/// What the file says of these values. Of others, which tools leave behind when they change a graph, it may say anything.
fn declarations(graph: &GraphProto, names: &HashSet<&str>) -> Result<Declarations, Error> {
    let mut declarations = Declarations::new();
    let lists = [("input", &graph.input), ("output", &graph.output), ("value", &graph.value_info)];
    for (kind, value) in lists.into_iter().flat_map(|(kind, list)| list.iter().map(move |value| (kind, value))) {
        if names.contains(value.name.as_str())
            && let Some(declaration) = Declaration::new(kind, value)?
        {
            declarations.entry(value.name.clone()).or_default().push(declaration);
        }
    }
    Ok(declarations)
}

impl Declaration {
    /// Nothing where no type is said.
    fn new(kind: &'static str, proto: &ValueInfoProto) -> Result<Option<Declaration>, Error> {
        let place = || format!("{kind} {:?}", proto.name);
        let Some(declared) = &proto.r#type else {
            return Ok(None);
        };
        let Some(declared) = &declared.tensor_type else {
            return Err(error(place(), "it is no tensor, which is not supported"));
        };
        let dtype = match declared.elem_type {
            0 => None,
            data_type => Some(tensor::dtype(&place(), data_type)?),
        };
        let size = |dim: &proto::DimensionProto| dim.dim_value.and_then(|size| u64::try_from(size).ok());
        let shape = declared.shape.as_ref().map(|shape| shape.dim.iter().map(size).collect());
        Ok(Some(Declaration { kind, dtype, shape }))
    }

    fn check(&self, name: &str, own: &TensorType) -> Result<(), Error> {
        let fits = |shape: &Vec<Option<u64>>| {
            let same = |(declared, own): (&Option<u64>, &u64)| declared.is_none_or(|size| size == *own);
            shape.len() == own.shape.len() && shape.iter().zip(&own.shape).all(same)
        };
        if self.dtype.is_none_or(|dtype| dtype == own.dtype) && self.shape.as_ref().is_none_or(fits) {
            return Ok(());
        }
        let problem = format!("its type is {} and its shape {}, declared are {self}", own.dtype, list(&own.shape));
        Err(error(format!("{} {name:?}", self.kind), problem))
    }
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            Some(dtype) => write!(f, "{dtype} and ")?,
            None => write!(f, "any type and ")?,
        }
        match &self.shape {
            Some(shape) => {
                let sizes: Vec<Size> = shape.iter().copied().map(Size).collect();
                f.write_str(&list(&sizes))
            }
            None => f.write_str("any shape"),
        }
    }
}

/// A size that may be unknown, as messages write it.
struct Size(Option<u64>);

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(size) => write!(f, "{size}"),
            None => f.write_str("?"),
        }
    }
}

/// The inputs of a Max that names values more than once, each of them once: a value's maximum with itself is the value.
fn repeated(node: &NodeProto, ids: &[Option<usize>]) -> Option<Vec<Option<usize>>> {
    let mut seen = HashSet::new();
    let once: Vec<Option<usize>> = ids.iter().copied().filter(|id| id.is_none() || seen.insert(*id)).collect();
    (node.op_type == "Max" && once.len() < ids.len()).then_some(once)
}

/// The values of a graph, by name.
struct Values<'a> {
    values: Vec<Value>,
    ids: HashMap<&'a str, usize>,
    declarations: &'a Declarations,
}

impl<'a> Values<'a> {
    /// Adds a value, if it is what the file says of it.
    fn add(&mut self, name: &'a str, value: Value) -> Result<usize, Error> {
        let declared = self.declarations.get(name).into_iter().flatten();
        declared.into_iter().try_for_each(|declaration| declaration.check(name, value.tensor_type()))?;
        self.values.push(value);
        self.ids.insert(name, self.values.len() - 1);
        Ok(self.values.len() - 1)
    }

    fn named(&self, name: &str) -> Result<usize, Error> {
        let missing = || error(format!("value {name:?}"), "no input, initializer or node before gives it");
        self.ids.get(name).copied().ok_or_else(missing)
    }

    /// The operation of a node on these values.
    fn operation(&self, node: &NodeProto, opset: u64, ids: &[Option<usize>]) -> Result<Box<dyn Operation>, Error> {
        let operand =
            |id: usize| Operand { tensor_type: self.values[id].tensor_type(), known: self.values[id].known() };
        let operands: Vec<Option<Operand<'_>>> = ids.iter().map(|id| id.map(operand)).collect();
        operation(node, opset, &operands)
    }
}
