//! The functions of the C ABI. All unsafe code of this crate is here, and `include/wgmax.h` is written from this file.
//!
//! Texts end with NUL and have no length beside them: that is how C's JSON libraries print and read them, and JSON has no
//! NUL in it.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::panic::{UnwindSafe, catch_unwind};
use std::ptr;

/// The plan of an operation for a device with these limits, as JSON: shaders, parameters, grids and bindings. The same
/// operation and limits give the same plan, so keep it.
///
/// operation: JSON in UTF-8, ended by NUL.
/// limits: the same. NULL stands for WebGPU's default limits: that plan runs on every device.
/// error: NULL, or where to put what is wrong: a text for people, or NULL if nothing is.
///
/// Returns the plan, or NULL if there is none. Plan and error are the caller's, to be given to wgmax_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wgmax_plan(
    operation: *const c_char,
    limits: *const c_char,
    error: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: the header asks the caller for what `text` needs of either.
    let (operation, limits) = unsafe { (text("operation", operation), text("limits", limits)) };
    let answer = guarded(|| crate::plan(needed("operation", operation?)?, limits?));
    // SAFETY: the header asks the caller for what `hand_out` needs of `error`.
    unsafe { hand_out(answer, error) }
}

/// What an operation reads and writes, as JSON: the type of each input and the elements and bytes that it needs, the type
/// and the shape of each output.
///
/// Arguments and what is returned are as in wgmax_plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wgmax_signature(operation: *const c_char, error: *mut *mut c_char) -> *mut c_char {
    // SAFETY: the header asks the caller for what `text` needs.
    let operation = unsafe { text("operation", operation) };
    let answer = guarded(|| crate::signature(needed("operation", operation?)?));
    // SAFETY: the header asks the caller for what `hand_out` needs of `error`.
    unsafe { hand_out(answer, error) }
}

/// Frees a text that wgmax_plan or wgmax_signature gave, an error too, once. NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wgmax_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the header asks for what `owned` made with `into_raw`, and for no use of it from here on.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// The version of this library, such as "0.1.0". It is not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn wgmax_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The text at a pointer; `None` for NULL.
///
/// # Safety
/// `from` is NULL, or points to bytes that end with NUL and stay as they are for as long as the text is used.
unsafe fn text<'a>(name: &str, from: *const c_char) -> Result<Option<&'a str>, String> {
    if from.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not NULL, and the caller promises the rest.
    let bytes = unsafe { CStr::from_ptr(from) };
    bytes.to_str().map(Some).map_err(|error| format!("{name}: JSON in UTF-8 expected: {error}"))
}

fn needed<'a>(name: &str, text: Option<&'a str>) -> Result<&'a str, String> {
    text.ok_or_else(|| format!("{name}: NULL given, JSON expected"))
}

/// The answer of what may panic: nothing unwinds into C.
fn guarded(work: impl FnOnce() -> Result<String, String> + UnwindSafe) -> Result<String, String> {
    catch_unwind(work).unwrap_or_else(|panic| Err(format!("a defect of wgmax, please report it: {}", message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked without a message")
}

/// Gives the caller the text, or what is wrong.
///
/// # Safety
/// `error` is NULL, or points to a pointer that may be written.
unsafe fn hand_out(answer: Result<String, String>, error: *mut *mut c_char) -> *mut c_char {
    let (text, wrong) = match answer {
        Ok(text) => (owned(text), ptr::null_mut()),
        Err(_) if error.is_null() => return ptr::null_mut(),
        Err(wrong) => (ptr::null_mut(), owned(wrong)),
    };
    if !error.is_null() {
        // SAFETY: the caller promises that it may be written. What it held is not read.
        unsafe { error.write(wrong) };
    }
    text
}

/// The text as the caller's own. An error may quote a NUL, which would end it there.
fn owned(text: String) -> *mut c_char {
    CString::new(text.replace('\0', "\u{fffd}")).map_or(ptr::null_mut(), CString::into_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARG_MAX: &CStr = cr#"{"ArgMax": {"dtype": "f32", "input": {"shape": [2, 3]}, "axes": [-1]}}"#;

    fn plan(operation: Option<&CStr>, limits: Option<&CStr>) -> Result<String, String> {
        // SAFETY: both are NULL or end with NUL, and `call` gives a pointer of its own.
        call(|error| unsafe { wgmax_plan(pointer(operation), pointer(limits), error) })
    }

    fn signature(operation: &CStr) -> Result<String, String> {
        // SAFETY: as in `plan`.
        call(|error| unsafe { wgmax_signature(operation.as_ptr(), error) })
    }

    fn pointer(text: Option<&CStr>) -> *const c_char {
        text.map_or(ptr::null(), CStr::as_ptr)
    }

    /// What a function gives: a text or an error, never both.
    fn call(function: impl Fn(*mut *mut c_char) -> *mut c_char) -> Result<String, String> {
        let mut error = ptr::dangling_mut(); // whatever the caller left there
        let (text, error) = (function(&mut error), error);
        match (copied(text), copied(error)) {
            (Some(text), None) => Ok(text),
            (None, Some(error)) => Err(error),
            both => panic!("a text or an error expected, {both:?} given"),
        }
    }

    fn copied(given: *mut c_char) -> Option<String> {
        // SAFETY: texts of this library, each taken once.
        unsafe {
            let copy = text("text", given).unwrap().map(String::from);
            wgmax_free(given);
            copy
        }
    }

    #[test]
    fn a_plan_comes_as_json() {
        let json = plan(Some(ARG_MAX), None).unwrap();
        let plan: wgmax::plan::PortablePlan = serde_json::from_str(&json).unwrap();
        assert_eq!((plan.label.as_str(), plan.output_bytes), ("ArgMax f32 [2, 3] over [1]", vec![16]));
    }

    #[test]
    fn limits_left_out_are_those_of_webgpu() {
        let named = cr#"{"adapter": "hardware", "max_binding_bytes": 134217728}"#;
        assert_eq!(plan(Some(ARG_MAX), Some(named)), plan(Some(ARG_MAX), None));
        let others = plan(Some(ARG_MAX), Some(cr#"{"adapter": "swiftshader"}"#));
        assert_ne!(others, plan(Some(ARG_MAX), None));
    }

    #[test]
    fn a_signature_says_what_is_read_and_written() {
        let json = signature(ARG_MAX).unwrap();
        let inputs = r#"[{"dtype":"f32","elements":6,"bytes":24}]"#;
        assert_eq!(json, format!(r#"{{"inputs":{inputs},"outputs":[{{"dtype":"i64","shape":[2]}}]}}"#));
    }

    #[test]
    fn errors_say_which_text_is_wrong() {
        let with_limits = |limits| plan(Some(ARG_MAX), Some(limits)).unwrap_err();
        let with_operation = |operation| plan(Some(operation), None).unwrap_err();
        assert_eq!(plan(None, None).unwrap_err(), "operation: NULL given, JSON expected");
        assert!(with_operation(c"\xff").starts_with("operation: JSON in UTF-8 expected"));
        assert!(with_operation(c"").starts_with("operation: EOF"));
        assert!(with_operation(cr#"{"ArgMin": {}}"#).contains("unknown variant `ArgMin`, expected one of"));
        assert!(with_operation(cr#"{"\u0000": {}}"#).contains("unknown variant `\u{fffd}`"));
        assert!(with_limits(cr#"{"max_bindings": 8}"#).contains("limits: unknown field `max_bindings`"));
        assert!(with_limits(cr#"{"max_groups": 0}"#).contains("max_compute_workgroups_per_dimension"));
        let deep = CString::new("[".repeat(1 << 20)).unwrap();
        assert!(with_operation(&deep).starts_with("operation: "));
        let axis = cr#"{"ReduceMax": {"dtype": "f32", "input": {"shape": [2]}, "axes": [1]}}"#;
        assert_eq!(signature(axis).unwrap_err(), with_operation(axis));
    }

    #[test]
    fn nobody_has_to_ask_for_errors() {
        // SAFETY: NULL may stand for each of them.
        unsafe {
            assert!(wgmax_plan(ptr::null(), ptr::null(), ptr::null_mut()).is_null());
            assert!(!copied(wgmax_plan(ARG_MAX.as_ptr(), ptr::null(), ptr::null_mut())).unwrap().is_empty());
            assert!(wgmax_signature(ptr::null(), ptr::null_mut()).is_null());
            wgmax_free(ptr::null_mut());
        }
    }

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(guarded(|| panic!("no {}", 7)), Err("a defect of wgmax, please report it: no 7".into()));
        assert_eq!(guarded(|| panic!("no")), Err("a defect of wgmax, please report it: no".into()));
    }

    #[test]
    fn the_version_is_that_of_wgmax() {
        // SAFETY: a text that is always there.
        let version = unsafe { CStr::from_ptr(wgmax_version()) }.to_str().unwrap();
        assert!(include_str!("../../Cargo.toml").contains(&format!("name = \"wgmax\"\nversion = \"{version}\"")));
    }
}
