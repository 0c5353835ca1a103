//! The `steelyard-launch` binary: serves launches on fd 0 until its driver goes away.

use std::process::ExitCode;
use steelyard_launch::server::Server;

fn main() -> ExitCode {
    match Server::start() {
        Ok(mut server) => ExitCode::from(server.serve()),
        Err(error) => {
            eprintln!("steelyard-launch: cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}
