//! The program, run as a process.
