// Packs of columns side by side, out of one pack more of each reduced row. Each is a whole pack of the output and is stored as one,
// which packs of column_panels_shared_units.wgsl need not be. Those before output number `own_first` are another invocation's.
import package::{Chunk, PACK_ELEMENTS, PANEL_PACKS, reduce_panel, stored_whole};

fn reduce_inner_packs(start: u32, chunk: Chunk, first: u32, own_first: u32) {
    var panel = reduce_panel(start, chunk);
    for (var n = 0u; n < PANEL_PACKS; n++) {
        let pack_first = first + n * PACK_ELEMENTS;
        if (pack_first >= own_first) {
            stored_whole(panel[n], pack_first);
        }
    }
}
