//! Taking samples in turn with the other launch of a pair.

use crate::output::Descriptor;

/// The other launch, at the end of a socket. Both take their samples in rounds, one after the other,
/// and a byte hands over the turn: the one without it sleeps. If the partner is gone, this launch goes on
/// alone.
pub(crate) struct Partner {
    /// None once the partner is gone.
    socket: Option<Descriptor>,
    orders: Vec<Order>,
    taken: usize,
}

/// The place of a sample in its round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    /// It is the first one.
    First,
    /// It follows the partner's.
    Second,
}

impl Partner {
    /// Connects to the partner, with the order of each sample.
    pub(crate) fn on(fd: i32, orders: Vec<Order>) -> Result<Self, String> {
        let socket = Descriptor::take(fd)
            .map_err(|error| format!("--steelyard-lockstep={fd} cannot be used: {error}"))?;
        Ok(Self {
            socket: Some(socket),
            orders,
            taken: 0,
        })
    }

    /// Waits for the turn, before a sample and its preparation.
    pub(crate) fn await_turn(&mut self) {
        let before = self.taken.checked_sub(1).map(|last| self.orders[last]);
        if before.is_none() {
            // The first one has to wait until both are set up.
            self.tell();
            self.wait();
        }
        if self.orders[self.taken] == Order::Second || before == Some(Order::First) {
            self.wait();
        }
    }

    /// Hands over the turn after a sample; returns its order, if it was taken in turn.
    pub(crate) fn hand_over(&mut self) -> Option<Order> {
        let order = self.socket.as_ref().map(|_| self.orders[self.taken]);
        let next = self.orders.get(self.taken + 1);
        if self.orders[self.taken] == Order::First || next != Some(&Order::First) {
            self.tell();
        }
        self.taken += 1;
        order
    }

    /// Waits after the last sample, if the partner's is still to come: what follows would disturb it.
    pub(crate) fn part(&mut self) {
        if self.orders.last() == Some(&Order::First) {
            self.wait();
        }
    }

    fn tell(&mut self) {
        let told = |socket: &Descriptor| socket.write(&[0]).is_ok();
        self.socket = self.socket.take().filter(told);
    }

    fn wait(&mut self) {
        let heard = |socket: &Descriptor| socket.read_byte().is_ok();
        self.socket = self.socket.take().filter(heard);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::fd::IntoRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::Mutex;
    use std::thread;

    fn orders(digits: &str) -> Vec<Order> {
        let order = |digit| match digit {
            '0' => Order::First,
            _ => Order::Second,
        };
        digits.chars().map(order).collect()
    }

    fn take(socket: UnixStream, digits: &str, mut sample: impl FnMut()) -> Vec<Option<Order>> {
        let mut partner = Partner::on(socket.into_raw_fd(), orders(digits)).unwrap();
        let mut one = || {
            partner.await_turn();
            sample();
            partner.hand_over()
        };
        let taken = digits.chars().map(|_| one()).collect();
        partner.part();
        taken
    }

    #[test]
    fn samples_are_taken_in_the_order_that_is_asked_for() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let seen = Mutex::new(String::new());
        let note = |side: char| seen.lock().unwrap().push(side);
        thread::scope(|scope| {
            scope.spawn(|| take(theirs, "10110", || note('b')));
            assert_eq!(
                take(ours, "01001", || note('a')),
                orders("01001").into_iter().map(Some).collect::<Vec<_>>()
            );
        });
        assert_eq!(*seen.lock().unwrap(), "abbaababba");
    }

    #[test]
    fn without_a_partner_it_goes_on_alone() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert_eq!(take(ours, "0110", || ()), [None; 4]);
    }
}
