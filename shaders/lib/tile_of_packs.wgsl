// The maxima of a tile of columns, pack by pack.
import package::{Maxima, column_pack, fold, maxima_of};

fn tile_maxima(rows: vec4<u32>) -> Maxima {
    let a = column_pack(rows.x);
    let b = column_pack(rows.y);
    let c = column_pack(rows.z);
    let d = column_pack(rows.w);
    return fold(fold(fold(maxima_of(a), b), c), d);
}
