//! Operations and limits, read from the numbers that `web/src/encoded.ts` writes: lists have their length before them, -1
//! stands for what is left out, and a choice is its place among those that there are.

use std::slice;

use wasm_bindgen::JsError;
use wgmax::{
    AdapterKind, AnyOperation, ArgMax, ArgMaxOutput, Axes, DType, EmptyMax, Hardmax, IndexType, Limits, Max, NanPolicy,
    ReduceMax, Slices, Tensor, View,
};

pub struct Words<'a>(slice::Iter<'a, i64>);

impl Words<'_> {
    pub fn new(words: &[i64]) -> Words<'_> {
        Words(words.iter())
    }

    pub fn operation(&mut self) -> Result<AnyOperation, JsError> {
        let operator = self.next()?;
        let dtype = self.choice(&DType::ALL)?;
        let nan = self.choice(&[NanPolicy::Propagate, NanPolicy::Ignore])?;
        let count = self.next()?;
        let mut views = (0..count).map(|_| self.view()).collect::<Result<Vec<_>, _>>()?;
        if operator == 3 {
            return Ok(self.max(Max::new(dtype, views).nan(nan))?.into());
        }
        let view = views.pop().ok_or_else(ends_early)?;
        Ok(match operator {
            0 => ReduceMax::new(dtype, view)
                .nan(nan)
                .axes(self.axes()?)
                .keep_dims(self.flag()?)
                .empty(self.choice(&[EmptyMax::Least, EmptyMax::LowestFinite, EmptyMax::Error])?)
                .into(),
            1 => ArgMax::new(dtype, view)
                .nan(nan)
                .axes(self.axes()?)
                .keep_dims(self.flag()?)
                .select_last(self.flag()?)
                .index(self.choice(&[IndexType::I64, IndexType::I32, IndexType::U32])?)
                .output(self.choice(&[ArgMaxOutput::Indices, ArgMaxOutput::ValuesAndIndices])?)
                .into(),
            _ => {
                let slices = self.choice(&[Slices::Along, Slices::From])?;
                Hardmax::new(dtype, view, slices(self.next()?)).nan(nan).into()
            }
        })
    }

    fn max(&mut self, op: Max) -> Result<Max, JsError> {
        let op = match self.next()? {
            -1 => op,
            input => op.in_place(input as usize),
        };
        let Some(shape) = self.optional_list()? else {
            return Ok(op);
        };
        let dtype = self.choice(&DType::ALL)?;
        let bytes = self.list()?.into_iter().map(|byte| byte as u8).collect();
        Ok(op.constant(Tensor::from_bytes(dtype, sizes(shape)?, bytes)?))
    }

    pub fn limits(&mut self) -> Result<Limits, JsError> {
        Ok(Limits {
            adapter: self.choice(&[AdapterKind::Gpu, AdapterKind::Cpu])?,
            subgroup_size: self.limit()?,
            max_binding_bytes: size(self.next()?)?,
            binding_alignment_bytes: size(self.next()?)?,
            max_storage_bindings: self.limit()?,
            max_group_invocations: self.limit()?,
            max_group_memory_bytes: self.limit()?,
            max_groups: self.limit()?,
            int64: false, // WebGPU has none
        })
    }

    /// A device may have more of it than 32 bits count.
    fn limit(&mut self) -> Result<u32, JsError> {
        Ok(size(self.next()?)?.min(u32::MAX.into()) as u32)
    }

    fn view(&mut self) -> Result<View, JsError> {
        let shape = sizes(self.list()?)?;
        let strides = match self.optional_list()? {
            Some(strides) => strides,
            None => View::new(shape.clone())?.strides().to_vec(),
        };
        Ok(View::strided(shape, strides, size(self.next()?)?)?)
    }

    fn axes(&mut self) -> Result<Axes, JsError> {
        Ok(Axes::from(self.optional_list()?))
    }

    fn flag(&mut self) -> Result<bool, JsError> {
        Ok(self.next()? != 0)
    }

    fn choice<T: Copy>(&mut self, from: &[T]) -> Result<T, JsError> {
        from.get(self.next()? as usize).copied().ok_or_else(ends_early)
    }

    fn list(&mut self) -> Result<Vec<i64>, JsError> {
        self.optional_list()?.ok_or_else(ends_early)
    }

    fn optional_list(&mut self) -> Result<Option<Vec<i64>>, JsError> {
        let len = self.next()?;
        (len >= 0).then(|| (0..len).map(|_| self.next()).collect()).transpose()
    }

    fn next(&mut self) -> Result<i64, JsError> {
        self.0.next().copied().ok_or_else(ends_early)
    }
}

fn sizes(list: Vec<i64>) -> Result<Vec<u64>, JsError> {
    list.into_iter().map(size).collect()
}

fn size(n: i64) -> Result<u64, JsError> {
    u64::try_from(n).map_err(|_| JsError::new("a size or an offset is negative, 0 or more expected"))
}

fn ends_early() -> JsError {
    JsError::new("the operation is not encoded as this planner reads it")
}
