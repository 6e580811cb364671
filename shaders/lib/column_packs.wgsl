// One pack of columns.
import package::{ColumnOutputs, reduce_pack};

fn reduce_outputs(own: ColumnOutputs) { reduce_pack(own); }
