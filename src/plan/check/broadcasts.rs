//! Max: rows of packs, tiles of columns, bunches of short rows, elements.

use super::kernel::Group;
use super::work::{Work, check_neighbours};
use crate::Error;
use crate::error::ensure;
use crate::plan::device::check_countable;
use crate::plan::{BroadcastParams, Kernel, MaxAccess, Override};
use crate::shader::{TILE_PACKS, WALK_DIMS};

impl Work {
    pub fn of_broadcast(
        kernel: &Kernel,
        access: MaxAccess,
        params: &BroadcastParams,
        group: &Group,
    ) -> Result<Work, Error> {
        let [len, share, row_len, first, begin] =
            [params.len, params.share, params.row_len, params.first, params.begin].map(u64::from);
        ensure(len > 0 && share > 0 && row_len > 0, || {
            format!("{len} elements in rows of {row_len}, {share} in turn: more than 0 expected")
        })?;
        check_countable(begin + len)?;
        check_countable(len + row_len - 1)?; // as the shaders count rows
        let around = params.sizes.iter().fold(1, |rows: u64, &size| rows.saturating_mul(size.into()));
        let own = if access == MaxAccess::Columns { 1 } else { row_len }; // elements that lie within `sizes`
        ensure(around.saturating_mul(own) == len, || {
            format!("{len} elements in {around} rows of {own}: as many expected")
        })?;
        let (pack, lanes, dims) = (kernel.dtype.pack_elements(), kernel.dtype.lanes(), params.sizes.len() as u64);
        // What is written at once, how much of it there is, the elements of a stretch, and the turns that it takes to begin one.
        let (write_len, units, stretch, begun) = match access {
            MaxAccess::Packs { .. } => return Work::of_packs(kernel, params, group),
            MaxAccess::Columns => return Work::of_tiles(kernel, params, group),
            MaxAccess::ShortRows { len: row } => {
                let rows = params.sizes.first().map_or(0, |&size| u64::from(size)).max(pack - 1);
                let write_len = pack * u64::from(row);
                (write_len, len / write_len, u64::from(row) * rows, 2 * (dims + 1)) // where it ends, the next one, too
            }
            MaxAccess::Elements => {
                let units = (begin + len).div_ceil(lanes).saturating_sub(first);
                (lanes, units, params.walk_len(), dims + 1 + 4 * lanes) // a walk's ends lie within units
            }
        };
        let own = share.min(units);
        let stretches = own.saturating_mul(write_len) / stretch + 2;
        Ok(Work { turns: own.saturating_add(stretches * begun), ..Work::shared(units, share, 1, group) })
    }

    /// Tiles below one another of rows of whole tiles.
    fn of_tiles(kernel: &Kernel, params: &BroadcastParams, group: &Group) -> Result<Work, Error> {
        let spread = kernel.has(Override::Spread);
        let tile = if spread { 1 } else { TILE_PACKS } * kernel.dtype.pack_elements();
        let [len, share, row_len] = [params.len, params.share, params.row_len].map(u64::from);
        ensure(row_len >= tile && row_len.is_multiple_of(tile) && params.walk_len() >= len, || {
            format!(
                "rows of {row_len} elements in {} dimensions: whole tiles of {tile}, in {WALK_DIMS} at most, expected",
                params.sizes.len()
            )
        })?;
        check_countable(len + row_len.saturating_mul(share + 1))?;
        let tasks = (row_len / tile).saturating_mul((len / tile).div_ceil(row_len / tile).div_ceil(share));
        let turns = share + tile + params.sizes.len() as u64;
        Ok(Work { groups: tasks.div_ceil(group.invocations), turns })
    }

    /// Some rows of packs, or a part of one.
    fn of_packs(kernel: &Kernel, params: &BroadcastParams, group: &Group) -> Result<Work, Error> {
        let (pack, dims) = (kernel.dtype.pack_elements(), params.sizes.len() as u64);
        let [len, share, row_len] = [params.len, params.share, params.row_len].map(u64::from);
        let row_len = row_len.max(pack);
        check_countable(len + row_len - 1)?;
        let (rows, row_packs) = (len.div_ceil(row_len), row_len / pack);
        let neighbours = if kernel.has(Override::Spread) { 1 } else { kernel.neighbours() };
        let (share, own_rows) = match kernel.has(Override::Spread) {
            true => (TILE_PACKS, 1),
            false => (share, (share * neighbours / row_packs).max(1)),
        };
        check_neighbours(kernel, group)?;
        check_countable(neighbours * share + len / pack)?;
        ensure(neighbours == 1 || row_packs >= TILE_PACKS, || {
            format!("neighbours take tiles of rows of {row_packs} packs: {TILE_PACKS} at least expected")
        })?;
        let together = rows.div_ceil(own_rows).saturating_mul(row_packs.div_ceil(share * neighbours));
        // A pack at a row's end takes the next row, too.
        let (begun, own_packs) = match neighbours {
            1 => (2 * dims + 2, row_packs),
            _ => (3 * dims + 4, row_packs.div_ceil(TILE_PACKS * neighbours) * TILE_PACKS), // tiles in turn, and ends
        };
        let turns = own_rows.min(rows).saturating_mul(begun + share.min(own_packs));
        Ok(Work { groups: together.saturating_mul(neighbours).div_ceil(group.invocations), turns })
    }
}
