//! What a file of `shaders/` takes from the others it says in its `import` line, in WESL's syntax. The files that make up a
//! program are joined, so that a name belongs to the whole package; which of them are joined is the manifest's to say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The names that Max's kernels and those of short rows are given as generated text.
const GENERATED: [&str; 26] = [
    "BUNCH_ROWS",
    "Ends",
    "OPERANDS",
    "PANEL_PACKS",
    "Panel",
    "ROW_COLUMNS",
    "ROW_LEN",
    "carried_at",
    "finish_stretch",
    "first_addresses",
    "first_steps",
    "fixed_packs",
    "fold_elements",
    "fold_runs",
    "fold_splats",
    "fold_straddling",
    "longest_operand",
    "moved",
    "moved_along",
    "operand_ends",
    "pack_addresses",
    "panel_of",
    "store_bunch",
    "store_rows",
    "store_stretch",
    "write_bunch",
];

const LISTED: &str = include_str!("../../src/shader/files.rs");

/// A file's text without comments, and the names on its import line.
struct File {
    text: String,
    imports: BTreeSet<String>,
}

fn read(path: &Path) -> File {
    let text = fs::read_to_string(path).unwrap();
    let text: String = text.lines().map(|line| line.split("//").next().unwrap_or("").to_string() + "\n").collect();
    let Some((before, rest)) = text.split_once("import package::{") else {
        return File { text, imports: BTreeSet::new() };
    };
    let (names, after) = rest.split_once("};").unwrap_or_else(|| panic!("{path:?}: an import without end"));
    let imports = names.split(',').map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect();
    File { text: format!("{before}{after}"), imports }
}

fn files() -> BTreeMap<String, File> {
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut files = BTreeMap::new();
    for folder in ["", "lib", "types"] {
        for entry in fs::read_dir(shaders.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "wgsl") {
                files.insert(path.strip_prefix(&shaders).unwrap().display().to_string(), read(&path));
            }
        }
    }
    files
}

/// The identifiers of a text, each with the character before it.
fn identifiers(text: &str) -> impl Iterator<Item = (char, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(is_part).filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let len = text[at..].find(|c| !is_part(c)).unwrap_or(text.len() - at);
        (!is_part(before)).then(|| (before, &text[at..at + len]))
    })
}

/// The names that a file declares for all others: its lines begin with them.
fn declared(text: &str) -> BTreeSet<&str> {
    text.lines().filter_map(declared_in).collect()
}

fn declared_in(line: &str) -> Option<&str> {
    let rest = match line.split_once(' ')? {
        ("fn" | "const" | "override" | "struct" | "alias", rest) => rest,
        (word, _) if word.starts_with("@group") || word.starts_with("var<") => line.split_once('>')?.1,
        _ => return None,
    };
    identifiers(rest).next().map(|(_, name)| name)
}

/// The names that a file's functions declare for themselves, and its parameters and members.
fn own(text: &str) -> BTreeSet<&str> {
    let mut own = BTreeSet::new();
    let mut last = "";
    for (_, name) in identifiers(text) {
        let end = name.as_ptr() as usize - text.as_ptr() as usize + name.len();
        if matches!(last, "let" | "var") || text[end..].starts_with(": ") && last != "case" {
            own.insert(name);
        }
        last = name;
    }
    own
}

#[test]
fn every_file_says_what_it_imports() {
    let files = files();
    let declarations: BTreeMap<&str, BTreeSet<&str>> =
        files.iter().map(|(path, file)| (path.as_str(), declared(&file.text))).collect();
    let all: BTreeSet<&str> = declarations.values().flatten().copied().chain(GENERATED).collect();
    for (path, file) in &files {
        let (declared, own) = (&declarations[path.as_str()], own(&file.text));
        let used: BTreeSet<String> = identifiers(&file.text)
            .filter(|(before, name)| *before != '.' && all.contains(name))
            .filter(|(_, name)| !declared.contains(name) && !own.contains(name))
            .map(|(_, name)| name.to_string())
            .collect();
        if std::env::var_os("UPDATE_EXPECT").is_some() && used != file.imports {
            println!("{path}: import package::{{{}}};", used.iter().cloned().collect::<Vec<_>>().join(", "));
        }
        let listed = format!("= \"{}\"", path.trim_end_matches(".wgsl"));
        assert!(LISTED.contains(&listed), "{path} is not listed in src/shader/files.rs");
        assert_eq!(file.imports, used, "{path}");
    }
}
