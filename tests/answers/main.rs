//! The operators on devices against the reference, bit for bit. They are one program, whose tests share the devices and what
//! is compiled for them: compiling is what they take their time for.

#[path = "../common/mod.rs"]
mod common;

mod arg_max;
mod boundaries;
mod floors;
mod hardmax;
mod max;
mod random;
mod reduce_max;
mod windows;
