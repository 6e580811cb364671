use crate::Error;
use crate::view::check_rank;

/// The axes of a reduction; negative ones count from the last dimension. As serde data: a list, or null for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Option<Vec<i64>>", into = "Option<Vec<i64>>"))]
pub enum Axes {
    /// Every dimension.
    #[default]
    All,
    /// These, in any order, each from `-rank` to `rank - 1`. An empty list reduces nothing.
    List(Vec<i64>),
}

impl Axes {
    /// The dimensions meant, ascending.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`], [`Error::RepeatedAxis`]; [`Error::NoAxis`] where an axis is named and the rank is 0;
    /// [`Error::TooLarge`] for more than [`View::MAX_RANK`](crate::View::MAX_RANK) dimensions.
    pub fn resolve(&self, operator: &'static str, rank: usize) -> Result<Vec<usize>, Error> {
        check_rank(rank)?;
        let Axes::List(axes) = self else {
            return Ok((0..rank).collect());
        };
        let mut dimensions = Vec::with_capacity(axes.len());
        for &axis in axes {
            let dimension = resolve_axis(operator, axis, rank)?;
            match dimensions.binary_search(&dimension) {
                Ok(_) => return Err(Error::RepeatedAxis { axes: axes.clone(), dimension }),
                Err(place) => dimensions.insert(place, dimension),
            }
        }
        Ok(dimensions)
    }
}

/// The dimension that one axis means.
pub(crate) fn resolve_axis(operator: &'static str, axis: i64, rank: usize) -> Result<usize, Error> {
    resolve_up_to(operator, axis, rank, rank.saturating_sub(1))
}

/// The dimension that one axis means, or the rank where that is the last one allowed.
pub(crate) fn resolve_up_to(operator: &'static str, axis: i64, rank: usize, last: usize) -> Result<usize, Error> {
    if rank == 0 {
        return Err(Error::NoAxis { operator });
    }
    let shifted = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    match shifted.and_then(|axis| usize::try_from(axis).ok()) {
        Some(dimension) if dimension <= last => Ok(dimension),
        _ => Err(Error::AxisOutOfRange { axis, rank, expected: -(rank as i64)..=last as i64 }),
    }
}

impl<const N: usize> From<[i64; N]> for Axes {
    fn from(axes: [i64; N]) -> Axes {
        Axes::List(axes.into())
    }
}

impl From<Vec<i64>> for Axes {
    fn from(axes: Vec<i64>) -> Axes {
        Axes::List(axes)
    }
}

impl From<&[i64]> for Axes {
    fn from(axes: &[i64]) -> Axes {
        Axes::List(axes.into())
    }
}

impl From<Option<Vec<i64>>> for Axes {
    fn from(axes: Option<Vec<i64>>) -> Axes {
        axes.map_or(Axes::All, Axes::List)
    }
}

impl From<Axes> for Option<Vec<i64>> {
    fn from(axes: Axes) -> Option<Vec<i64>> {
        match axes {
            Axes::All => None,
            Axes::List(axes) => Some(axes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_no_tensor_has_are_refused() {
        for axes in [Axes::All, Axes::from([-1]), Axes::from([])] {
            for rank in [65, 1 << 63, usize::MAX] {
                let error = axes.resolve("ReduceMax", rank).unwrap_err();
                assert!(matches!(error, Error::TooLarge { what: "dimensions of a tensor", limit: 64, .. }), "{error}");
            }
        }
    }
}
