//! Operations, read from the numbers that `web/src/encoded.ts` writes: lists have their length before them, -1 stands for
//! what is left out, and a choice is its place among those that there are.

use std::slice;

use wasm_bindgen::JsError;
use wgmax::{
    AnyOperation, ArgMax, ArgMaxOutput, Axes, DType, EmptyMax, Hardmax, IndexType, Max, NanPolicy, ReduceMax, Slices,
    Tensor, View,
};

const NANS: [NanPolicy; 2] = [NanPolicy::Propagate, NanPolicy::Ignore];

/// The operation that all of these numbers are, with the bytes of its constant.
pub fn operation(words: &[i64], constant: &[u8]) -> Result<AnyOperation, JsError> {
    let mut words = Words::new(words);
    let operator = words.next();
    let dtype = words.choice(&DType::ALL);
    let op = match operator {
        0 => words.reduce_max(dtype)?.into(),
        1 => words.arg_max(dtype)?.into(),
        2 => words.hardmax(dtype)?.into(),
        3 => words.max(dtype, constant)?.into(),
        _ => return Err(unreadable()),
    };
    words.end()?;
    Ok(op)
}

/// Numbers, each read once. Whether they could be read at all is asked once, at the end, which keeps the module small.
pub struct Words<'a> {
    rest: slice::Iter<'a, i64>,
    wrong: bool,
}

impl Words<'_> {
    pub fn new(words: &[i64]) -> Words<'_> {
        Words { rest: words.iter(), wrong: false }
    }

    fn reduce_max(&mut self, dtype: DType) -> Result<ReduceMax, JsError> {
        Ok(ReduceMax::new(dtype, self.view()?)
            .axes(Axes::from(self.list()))
            .keep_dims(self.flag())
            .nan(self.choice(&NANS))
            .empty(self.choice(&[EmptyMax::Least, EmptyMax::LowestFinite, EmptyMax::Error])))
    }

    fn arg_max(&mut self, dtype: DType) -> Result<ArgMax, JsError> {
        Ok(ArgMax::new(dtype, self.view()?)
            .axes(Axes::from(self.list()))
            .keep_dims(self.flag())
            .nan(self.choice(&NANS))
            .select_last(self.flag())
            .index(self.choice(&[IndexType::I64, IndexType::I32, IndexType::U32]))
            .output(self.choice(&[ArgMaxOutput::Indices, ArgMaxOutput::ValuesAndIndices])))
    }

    fn hardmax(&mut self, dtype: DType) -> Result<Hardmax, JsError> {
        let view = self.view()?;
        let slices = self.choice(&[Slices::Along, Slices::From]);
        Ok(Hardmax::new(dtype, view, slices(self.next())).nan(self.choice(&NANS)))
    }

    fn max(&mut self, dtype: DType, constant: &[u8]) -> Result<Max, JsError> {
        let count = self.count();
        let views = (0..count).map(|_| self.view()).collect::<Result<Vec<_>, _>>()?;
        let mut op = Max::new(dtype, views);
        if let Some(shape) = self.list() {
            op = op.constant(Tensor::from_bytes(dtype, self.sizes(shape), constant.into())?);
        }
        op = op.nan(self.choice(&NANS));
        let input = |n: i64| usize::try_from(n).unwrap_or(usize::MAX); // no more are counted
        op = match self.next() {
            -1 => op,
            n => op.in_place(input(n)),
        };
        for _ in 0..self.count() {
            if let Some([own, other]) = self.list().as_deref() {
                op = op.view_of(input(*own), input(*other));
            }
        }
        Ok(op)
    }

    fn view(&mut self) -> Result<View, JsError> {
        let shape = self.list().unwrap_or_default();
        let shape = self.sizes(shape);
        let strides = match self.list() {
            Some(strides) => strides,
            None => View::new(shape.clone())?.strides().to_vec(),
        };
        Ok(View::strided(shape, strides, self.size())?)
    }

    pub fn flag(&mut self) -> bool {
        self.choice(&[false, true])
    }

    /// A list, if it is not left out.
    pub fn list(&mut self) -> Option<Vec<i64>> {
        if self.rest.as_slice().first() == Some(&-1) {
            self.rest.next();
            return None;
        }
        let count = self.count();
        Some(self.rest.by_ref().take(count).copied().collect())
    }

    /// No more than there are numbers left.
    fn count(&mut self) -> usize {
        let count = self.size();
        self.wrong |= count > self.rest.len() as u64;
        (count as usize).min(self.rest.len())
    }

    fn sizes(&mut self, list: Vec<i64>) -> Vec<u64> {
        list.into_iter().map(|n| self.natural(n)).collect()
    }

    pub fn size(&mut self) -> u64 {
        let n = self.next();
        self.natural(n)
    }

    fn natural(&mut self, n: i64) -> u64 {
        self.wrong |= n < 0;
        n.max(0) as u64
    }

    pub fn choice<T: Copy, const N: usize>(&mut self, from: &[T; N]) -> T {
        let place = self.size();
        self.wrong |= place >= N as u64;
        from[place.min(N as u64 - 1) as usize]
    }

    fn next(&mut self) -> i64 {
        self.wrong |= self.rest.len() == 0;
        self.rest.next().copied().unwrap_or(0)
    }

    /// Whether all has been read, and nothing else.
    pub fn end(self) -> Result<(), JsError> {
        if self.wrong || self.rest.len() > 0 { Err(unreadable()) } else { Ok(()) }
    }
}

/// The JavaScript has checked what its callers gave: what cannot be read is not of its version.
fn unreadable() -> JsError {
    JsError::new("wgmax's module and its JavaScript are of different versions")
}
