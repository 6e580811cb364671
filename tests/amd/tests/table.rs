//! What AMD's compiler makes of the shaders planned for GPUs: laws that they keep, and a table of figures in which a
//! change of a shader shows.
//!
//! Where a change is meant, `UPDATE_EXPECT=1 cargo test --package wgmax-amd-tests` writes `table.txt` anew.

use std::env;
use std::io::{self, Write as _};
use std::path::Path;

use expect_test::expect_file;
use wgmax_amd_tests::{Compiled, FAMILIES, Figures, MOST_OF_MAX, compile, driver, table};

/// A law, by whether a shader's figure breaks it. The table marks what does.
struct Law {
    says: &'static str,
    /// The figure of a shader that breaks it, of a family that keeps so many subgroups.
    broken: fn(&Figures, u64) -> Option<u64>,
    /// Of two such figures the worse.
    worse: fn(u64, u64) -> u64,
    exceptions: &'static [Exceptions],
}

/// The shaders that break a law for one reason.
struct Exceptions {
    why: &'static str,
    /// How the names of their shaders begin, and for each such name the family, how many shaders there are, and the worst
    /// of their figures. Each of them stands in the table.
    known: &'static [(&'static str, &'static str, usize, u64)],
}

const BUNCHES: &str = "all packs of a bunch of short rows, or of a part of one, are in registers at once, or all bunches of a \
                       workgroup in its memory, which are the bytes in flight, too";

const LAWS: [Law; 3] = [
    Law {
        says: "no scratch memory and no spilled registers (figures: bytes of scratch memory)",
        broken: |own, _| own.spills().then_some(own.scratch_bytes),
        worse: u64::max,
        exceptions: &[],
    },
    Law {
        says: "half of the subgroups that a SIMD keeps find room (figures: subgroups)",
        broken: |own, most| own.leaves_few_subgroups(most).then_some(own.subgroups),
        worse: u64::min,
        exceptions: &[
            Exceptions {
                why: "four rows are loaded at once and taken apart; a pack has 8 or 16 columns",
                known: &[("arg_max columns", "vega20", 11, 3), ("reduce_max columns", "vega20", 14, 3)],
            },
            Exceptions {
                why: BUNCHES,
                known: &[
                    ("arg_max rows of", "vega20", 11, 1),
                    ("arg_max rows of", "navi21", 1, 4),
                    ("arg_max rows of", "gfx1100", 1, 4),
                    ("max_short_rows of", "vega20", 30, 2),
                    ("reduce_max rows of", "vega20", 8, 1),
                    ("reduce_max rows of", "navi21", 3, 4),
                    ("reduce_max rows of", "gfx1100", 3, 4),
                ],
            },
            Exceptions {
                why: "four packs of each operand are in registers at once, and those that begin anywhere come out of two each",
                known: &[("max_packs", "vega20", 16, 3), ("max_columns", "vega20", 3, 4)],
            },
        ],
    },
    Law {
        says: "a Max takes at most 120 instructions for each pack (figures: instructions)",
        broken: |own, _| own.of_pack.filter(|_| own.is_costly_max()),
        worse: u64::max,
        exceptions: &[
            Exceptions {
                why: "words of several elements take several comparisons; packs that begin anywhere are put together out of two, and \
                      rows that end within packs have their ends",
                known: &[
                    ("max_packs", "vega20", 29, 317),
                    ("max_packs", "navi21", 29, 318),
                    ("max_packs", "gfx1100", 29, 320),
                ],
            },
            Exceptions {
                why: "an invocation writes one bunch, and does all divisions of its addresses for it; where stretches end within bunches it \
                      may have rows of two",
                known: &[
                    ("max_short_rows of", "vega20", 37, 348),
                    ("max_short_rows of", "navi21", 35, 346),
                    ("max_short_rows of", "gfx1100", 39, 350),
                ],
            },
            Exceptions {
                why: "what operands have in every row is looked up once for four to sixteen packs, and counted for four",
                known: &[
                    ("max_columns", "vega20", 9, 221),
                    ("max_columns", "navi21", 9, 221),
                    ("max_columns", "gfx1100", 9, 224),
                ],
            },
        ],
    },
];

#[test]
fn shaders_keep_the_laws_and_their_figures_are_on_record() {
    assert_eq!(MOST_OF_MAX, 120, "as the law says");
    let compiled = compile(Path::new(env!("CARGO_BIN_EXE_wgmax-amd-tests")), &|_, _| ()).unwrap_or_else(|failure| {
        panic!("{failure}\nthis test takes Mesa's RADV, which `tests/run.sh --only amd` installs")
    });
    for of in &compiled {
        let names = |of: &Compiled| of.shaders.iter().map(|own| own.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(of), names(&compiled[0]), "every family has the same shaders");
    }
    let (own, recorded) = (&*compiled[0].driver, driver(include_str!("table.txt")).unwrap_or("no driver"));
    let update = env::var_os("UPDATE_EXPECT").is_some();
    let broken: String = LAWS.iter().flat_map(|law| law.broken_by(&compiled, own == recorded || update)).collect();
    eprint!("{broken}"); // before the table, which may differ as well
    if own == recorded || update {
        expect_file!["table.txt"].assert_eq(&table(&compiled));
    } else {
        // Not by a macro, whose output tests keep to themselves; and at the beginning of a line.
        let left_out = format!("\nLEFT OUT: the table of figures is of {recorded}, and this is {own}\n");
        io::stderr().write_all(left_out.as_bytes()).unwrap();
    }
    assert!(broken.is_empty(), "laws are broken, see above");
}

impl Law {
    /// What is wrong, a line each: shaders that no exception names, and exceptions that are no longer what is written of
    /// them. Of a driver that is not on record only the first, and an exception is one of every family.
    fn broken_by(&self, compiled: &[Compiled], exactly: bool) -> Vec<String> {
        let mut wrong = Vec::new();
        for Compiled { family, shaders, .. } in compiled {
            let breaks = |own| Some((own, (self.broken)(own, family.most_subgroups)?));
            let breaking: Vec<(&Figures, u64)> = shaders.iter().filter_map(breaks).collect();
            let known = self.exceptions.iter().flat_map(|own| own.known.iter().map(move |known| (own.why, known)));
            let known: Vec<_> = known.filter(|(_, (_, of, ..))| !exactly || *of == family.name()).collect();
            for (own, figure) in &breaking {
                if !known.iter().any(|(_, (begin, ..))| own.name.starts_with(begin)) {
                    wrong.push(format!("{}: {figure} for {} on {}\n", self.says, own.name, family.name()));
                }
            }
            for (why, (begin, _, count, worst)) in known.into_iter().filter(|_| exactly) {
                let figures = breaking.iter().filter(|(own, _)| own.name.starts_with(begin)).map(|&(_, figure)| figure);
                let (now, figure) = (figures.clone().count(), figures.reduce(self.worse));
                if (now, figure) != (*count, Some(*worst)) {
                    let figure = figure.map_or("none".into(), |own| own.to_string());
                    let name = format!("{begin} on {}", family.name());
                    wrong.push(format!("{}: {name}: known are {count}, the worst {worst}: {why}; ", self.says));
                    wrong.push(format!("now there are {now}, the worst {figure}\n"));
                }
            }
        }
        wrong
    }
}

/// Two shaders of five spill: what a law says of them, and what it says once exceptions are named.
#[test]
fn a_law_names_what_is_new_worse_or_no_longer_needed() {
    let shaders = [("a of 1", 0), ("a of 2", 16), ("a of 3", 64), ("b", 0), ("c", 8)];
    let figures = |(name, scratch): (&str, u64)| format!("8\t10\t{scratch}\t0\t99\t0\t{name}").parse().unwrap();
    let of = |shaders: &[(&'static str, u64)]| {
        let shaders = shaders.iter().copied().map(figures).collect();
        [Compiled { family: &FAMILIES[0], driver: "a driver".into(), shaders }]
    };
    let exceptions: &[Exceptions] =
        &[Exceptions { why: "reasons", known: &[("a of", "vega20", 2, 64), ("c", "vega20", 1, 8)] }];
    let elsewhere = Law { exceptions: &[Exceptions { why: "reasons", known: &[("c", "navi21", 1, 8)] }], ..LAWS[0] };
    let strict = Law { says: "no scratch", exceptions: &[], ..LAWS[0] };
    let law = Law { exceptions, ..strict };
    let wrong = |law: &Law, shaders: &[_], exactly| law.broken_by(&of(shaders), exactly).concat();

    assert_eq!(wrong(&law, &shaders, true), "");
    assert_eq!(wrong(&strict, &shaders, true).lines().count(), 3);
    assert_eq!(wrong(&strict, &shaders[4..], true), "no scratch: 8 for c on vega20\n");
    let expected = |now: &str| format!("no scratch: a of on vega20: known are 2, the worst 64: reasons; now {now}\n");
    let [one, two, three, b, c] = shaders;
    assert_eq!(wrong(&law, &[one, two, (three.0, 65), b, c], true), expected("there are 2, the worst 65"));
    assert_eq!(wrong(&law, &[one, (two.0, 0), three, b, c], true), expected("there are 1, the worst 64"));
    assert_eq!(wrong(&law, &[(one.0, 1), two, three, b, c], true), expected("there are 3, the worst 64"));
    assert_eq!(wrong(&law, &[one, (two.0, 0), (three.0, 0), b, c], true), expected("there are 0, the worst none"));
    assert_eq!(wrong(&law, &[one, b, (c.0, 9)], false), "", "of another driver only what is new");
    assert_eq!(wrong(&law, &[one, ("b", 4), c], false), "no scratch: 4 for b on vega20\n");
    assert_eq!(wrong(&elsewhere, &[one, c], true).lines().count(), 1, "of another family");
    assert_eq!(wrong(&elsewhere, &[one, c], false), "");
}
