// Blocks of four packs.
import package::{ColumnBests};

const BLOCK_PACKS = 4u;
alias Block = array<ColumnBests, BLOCK_PACKS>;

fn block_of(bests: ColumnBests) -> Block { return Block(bests, bests, bests, bests); }
