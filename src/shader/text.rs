//! Shader text as it is shipped: comments and indentation are for those who read the repository, and a third of it.

/// A file of `shaders/`, stripped when the crate is compiled.
macro_rules! shader {
    ($name:literal) => {{
        const TEXT: &str = include_str!(concat!("../../shaders/", $name, ".wgsl"));
        const STRIPPED: ([u8; TEXT.len()], usize) = $crate::shader::text::stripped(TEXT);
        const BYTES: [u8; STRIPPED.1] = *STRIPPED.0.first_chunk().unwrap();
        const SHADER: &str = match std::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("only whole characters are left out"),
        };
        SHADER
    }};
}
pub(super) use shader;

/// The text without comments, imports, indentation and empty lines, and its length.
pub(super) const fn stripped<const N: usize>(text: &str) -> ([u8; N], usize) {
    let text = text.as_bytes();
    let (mut bytes, mut len, mut at) = ([0; N], 0, 0);
    while at < N {
        let begins_line = len == 0 || bytes[len - 1] == b'\n';
        if begins_line && begins_with(text, at, b"import ") {
            while at < N && text[at] != b';' {
                at += 1;
            }
            at += 1;
        } else if text[at] == b'/' && at + 1 < N && text[at + 1] == b'/' {
            while at < N && text[at] != b'\n' {
                at += 1;
            }
        } else if begins_line && (text[at] == b' ' || text[at] == b'\n') {
            at += 1;
        } else {
            bytes[len] = text[at];
            len += 1;
            at += 1;
        }
    }
    (bytes, len)
}

const fn begins_with(text: &[u8], at: usize, word: &[u8]) -> bool {
    let mut n = 0;
    while n < word.len() && at + n < text.len() && text[at + n] == word[n] {
        n += 1;
    }
    n == word.len()
}

/// The name of a vector's component.
pub(super) fn component(n: u64) -> char {
    ['x', 'y', 'z', 'w'][n as usize % 4]
}

#[cfg(test)]
mod tests {
    use super::stripped;

    #[test]
    fn what_is_left_is_the_code() {
        const TEXT: &str = "// What it does.\nimport package::{\n    g,\n};\n\nfn f() { // here\n    return 4 / 2;\n\n    // there\n}\n";
        let (bytes, len) = stripped::<{ TEXT.len() }>(TEXT);
        assert_eq!(std::str::from_utf8(&bytes[..len]), Ok("fn f() { \nreturn 4 / 2;\n}\n"));
    }
}
