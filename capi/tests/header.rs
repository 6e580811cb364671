//! The header is what cbindgen writes. `UPDATE_EXPECT=1` writes it anew.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut header = Vec::new();
    let abi = cbindgen::Builder::new().with_config(config).with_src(root.join("src/abi.rs"));
    abi.generate().unwrap().write(&mut header);
    let path = root.join("include/wgmax.h");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let header = String::from_utf8(header).unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), header, "UPDATE_EXPECT=1 writes it anew");
}
