//! The `steelyard-launch` binary: serves launches on fd 0 until its driver goes away.

use std::process::ExitCode;
use steelyard_launch::guard;
use steelyard_launch::server::Server;

const FAILURE: u8 = 1;

fn main() -> ExitCode {
    let code = guard::watch(|| Server::start().map_or_else(failed, |mut server| server.serve()));
    ExitCode::from(code.unwrap_or_else(failed))
}

#[allow(clippy::needless_pass_by_value)] // map_or_else passes it by value
fn failed(error: std::io::Error) -> u8 {
    eprintln!("steelyard-launch: cannot start: {error}");
    FAILURE
}
