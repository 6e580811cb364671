//! The operators on devices against the reference, bit for bit. They are one program, whose tests take the devices, and what
//! is compiled for them, from one another: compiling is what they take their time for.

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
