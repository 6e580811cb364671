//! Generated text: panels of columns, since WGSL writes out each pack of one. See `shaders/lib/column_panels.wgsl`.

/// The packs of the widest panel that exists: a kernel that names more has text, too, which is bounded.
const MOST_PACKS: u64 = 16;

/// What a panel of so many packs is and, where no file says it, how it goes down its rows, one row after another: each row four packs at
/// once, since of such five whole ones are loaded where rows begin anywhere.
pub(super) fn panel_text(packs: u64, walks: bool) -> String {
    let packs = packs.min(MOST_PACKS);
    let listed = |of: &dyn Fn(u64) -> String| (0..packs).map(of).collect::<Vec<_>>().join(", ");
    let panel = format!(
        "const PANEL_PACKS = {packs}u;
alias Panel = array<ColumnBests, PANEL_PACKS>;
fn panel_of(bests: ColumnBests) -> Panel {{ return Panel({}); }}
",
        listed(&|_| "bests".to_string())
    );
    let begun = (0..packs).map(|n| format!("    var b{n} = panel[{n}];\n")).collect::<String>();
    let four = |n: u64| {
        let offer = |(k, pack)| format!("        offer_row(&b{}, row{n}.{pack}, run.r + i);\n", n + k);
        let offered = (0..).zip(["a", "b", "c", "d"]).map(offer).collect::<String>();
        format!("        let row{n} = four_packs(p + {}u * four_apart(), behind);\n{offered}", n / 4)
    };
    let walk = format!(
        "fn with_rows(panel: Panel, place: u32, run: Run) -> Panel {{
    let step = rows_apart();
    let len = min(run.len, FARTHEST);
{begun}    let behind = behind_packs();
    var p = place;
    for (var i = 0u; i < len; i++) {{
{}        p += step;
    }}
    return Panel({});
}}
",
        (0..packs).step_by(4).map(four).collect::<String>(),
        listed(&|n| format!("b{n}"))
    );
    if walks { panel + &walk } else { panel }
}
