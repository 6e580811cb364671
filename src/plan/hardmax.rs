use super::Plan;
use crate::{Error, Hardmax, Limits};

pub(crate) fn hardmax(_op: &Hardmax, _limits: &Limits) -> Result<Plan, Error> {
    Err(Error::Gpu { message: "not yet".into() })
}
