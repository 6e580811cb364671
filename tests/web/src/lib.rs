//! What the drivers in this folder ask for: the cases of the matrix with the answers expected, every shader, and the crate
//! itself run on WebGPU.

#[path = "../../common/mod.rs"]
mod common;

use common::cases::{self, Case, is_one_of_its_class};
use common::kernels::kernels;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use wgmax::plan::{Kernel, PortableShader};
use wgmax::{AdapterKind, Error, Gpu, GpuOptions, Limits, Operation, Tensor};

/// The cases that every route takes.
#[wasm_bindgen]
pub struct Cases(Vec<(Case, AdapterKind)>);

#[wasm_bindgen]
impl Cases {
    #[allow(clippy::new_without_default)] // for JavaScript
    #[wasm_bindgen(constructor)]
    pub fn new() -> Cases {
        Cases(cases::sample())
    }

    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// What a case is: its name, the operation, the kind of adapter to plan for, its inputs and the outputs expected.
    pub fn get(&self, n: usize) -> Result<JsValue, JsError> {
        let (case, adapter) = &self.0[n];
        let inputs = case.inputs();
        let expected = case.op.reference(&inputs.iter().collect::<Vec<_>>())?;
        let bytes =
            |tensors: &[Tensor]| tensors.iter().map(|own| Uint8Array::from(own.bytes())).collect::<js_sys::Array>();
        let object = js_sys::Object::new();
        let set = |name: &str, value: JsValue| js_sys::Reflect::set(&object, &name.into(), &value);
        let fields = [
            ("name", format!("{} as for a {adapter:?}", case.name).into()),
            ("operation", serde_json::to_string(&case.op)?.into()),
            ("adapter", format!("{adapter:?}").to_lowercase().into()),
            ("inputs", bytes(&inputs).into()),
            ("expected", bytes(&expected).into()),
        ];
        for (name, value) in fields {
            set(name, value).map_err(|_| JsError::new("no property can be set"))?;
        }
        Ok(object.into())
    }
}

/// The crate on the WebGPU of this browser.
#[wasm_bindgen]
pub struct Device {
    gpu: Gpu,
    cases: Cases,
}

#[wasm_bindgen]
impl Device {
    pub async fn open() -> Result<Device, JsError> {
        let gpu = Gpu::new(&GpuOptions { limits: Some(wgmax::wgpu::Limits::default()), ..Default::default() }).await?;
        Ok(Device { gpu, cases: Cases::new() })
    }

    #[wasm_bindgen(getter)]
    pub fn count(&self) -> usize {
        self.cases.count()
    }

    /// Runs a case: what is wrong with the answer, if anything is.
    pub async fn check(&self, n: usize) -> Result<Option<String>, JsError> {
        let (case, adapter) = &self.cases.0[n];
        let outcome = self.difference(case, *adapter).await?;
        Ok(outcome.map(|difference| format!("{} as for a {adapter:?}: {difference}", case.name)))
    }

    async fn difference(&self, case: &Case, adapter: AdapterKind) -> Result<Option<String>, Error> {
        let inputs = case.inputs();
        let expected = case.op.reference(&inputs.iter().collect::<Vec<_>>())?;
        let limits = Limits { adapter, ..self.gpu.kernels().limits().clone() };
        let bytes: Vec<&[u8]> = inputs.iter().map(Tensor::bytes).collect();
        let outputs = self.gpu.run_plan(&case.op.plan(&limits)?, &bytes).await?;
        Ok(common::first_difference(&expected, &common::tensors(&case.op, outputs)))
    }
}

/// Every shader variant that WebGPU knows, of one type of each class, as JSON: shaders of the portable form.
#[wasm_bindgen]
pub fn shaders() -> Result<String, JsError> {
    let is_own = |kernel: &&Kernel| !kernel.int64 && is_one_of_its_class(kernel.dtype);
    let shaders: Vec<PortableShader> = kernels().iter().filter(is_own).map(PortableShader::from).collect();
    Ok(serde_json::to_string(&shaders)?)
}
