//! Concurrency limiter with a per-tenant share; rejects immediately when full. So waiting requests take limited memory
//! and limited time, and one tenant leaves permits for the others.
//!
//! It limits the number of requests and not their waiting time: a Worker's clock stands still between two I/O events,
//! so the time for which a request has waited for the processor cannot be measured.

use std::{cell::RefCell, rc::Rc};

use xxhash_rust::xxh64::xxh64;

use domain::model::{ApiError, common};

/// The limit of one pool.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub permits: usize,
    /// Maximum permits of one owner.
    pub per_owner: usize,
    /// A permit is freed after this many milliseconds even if it was not returned. Dropping a permit returns it, but
    /// the runtime may abandon a request without dropping its values.
    pub lease_ms: i64,
}

/// A pool of permits.
#[derive(Debug)]
pub struct ConcurrencyLimit {
    limit: Limit,
    state: Rc<RefCell<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Permits in use.
    in_use: Vec<InUse>,
    last: u64,
    rejected: u64,
}

#[derive(Debug)]
struct InUse {
    number: u64,
    /// The end of the lease.
    until_ms: i64,
    /// The hashes of the owner and of its part, if any.
    owners: [u64; 2],
}

/// A permit, held until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Permit {
    state: Rc<RefCell<State>>,
    number: u64,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.state.borrow_mut();
        if let Some(at) = state.in_use.iter().position(|permit| permit.number == self.number) {
            state.in_use.swap_remove(at);
        }
    }
}

impl ConcurrencyLimit {
    pub fn new(limit: Limit) -> Self {
        Self { limit, state: Rc::default() }
    }

    /// Takes a permit for an owner: an app, a publisher, an offer, or anything else with an object of its own.
    ///
    /// # Errors
    /// [`BUSY`](common::BUSY) if the pool or the owner's share is used up.
    pub fn acquire(&self, owner: &str, now_ms: i64) -> Result<Permit, ApiError> {
        self.acquire_part(owner, (owner, self.limit.per_owner), now_ms)
    }

    /// Takes a permit for a part of an owner, such as a publisher's key, which has its own smaller share. So one part
    /// leaves permits for the owner's other parts, and the owner leaves permits for other owners. A part's name must
    /// differ from the names of all owners.
    ///
    /// # Errors
    /// [`BUSY`](common::BUSY) if the pool or either share is used up.
    pub fn acquire_part(&self, owner: &str, (part, per_part): (&str, usize), now_ms: i64) -> Result<Permit, ApiError> {
        let owners = [owner, part].map(|owner| xxh64(owner.as_bytes(), 0));
        self.take(owners, &[(owners[0], self.limit.per_owner), (owners[1], per_part)], now_ms)
    }

    /// Takes a permit that counts for no owner.
    ///
    /// # Errors
    /// [`BUSY`](common::BUSY) if the pool is used up.
    pub fn acquire_any(&self, now_ms: i64) -> Result<Permit, ApiError> {
        self.take([0; 2], &[], now_ms)
    }

    fn take(&self, owners: [u64; 2], claims: &[(u64, usize)], now_ms: i64) -> Result<Permit, ApiError> {
        let mut state = self.state.borrow_mut();
        if self.is_full(&state, claims) {
            state.in_use.retain(|permit| permit.until_ms > now_ms);
        }
        if self.is_full(&state, claims) {
            state.rejected += 1;
            return Err(common::BUSY);
        }
        state.last += 1;
        let number = state.last;
        let until_ms = now_ms.saturating_add(self.limit.lease_ms);
        state.in_use.push(InUse { number, until_ms, owners });
        Ok(Permit { state: Rc::clone(&self.state), number })
    }

    /// True if the pool or one of the shares in `claims` is used up. Scans the permits in use: a few hundred
    /// comparisons cost less than one call to an object.
    fn is_full(&self, State { in_use, .. }: &State, claims: &[(u64, usize)]) -> bool {
        let is_spent = |&(owner, share): &(u64, usize)| {
            in_use.len() >= share && in_use.iter().filter(|permit| permit.owners.contains(&owner)).count() >= share
        };
        in_use.len() >= self.limit.permits || claims.iter().any(is_spent)
    }

    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// The number of permits in use.
    pub fn in_use(&self) -> usize {
        self.state.borrow().in_use.len()
    }

    /// The number of rejected requests.
    pub fn rejected(&self) -> u64 {
        self.state.borrow().rejected
    }
}

/// Declares a Worker's pools, each with its name in the metrics and its [`Limit`]: an enum, and a struct with one
/// [`ConcurrencyLimit`] for each variant.
#[macro_export]
macro_rules! pools {
    ($($(#[$doc:meta])* $pool:ident $name:literal = $limit:expr;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Pool { $($(#[$doc])* $pool),* }

        impl Pool {
            pub const fn limit(self) -> Limit {
                match self { $(Self::$pool => $limit),* }
            }
        }

        /// The pools of an isolate.
        #[derive(Debug)]
        pub struct Pools([(&'static str, ConcurrencyLimit); [$($name),*].len()]);

        impl Default for Pools {
            fn default() -> Self {
                Self([$(($name, ConcurrencyLimit::new(Pool::$pool.limit()))),*])
            }
        }

        impl Pools {
            #[expect(clippy::indexing_slicing, reason = "there is one for each variant")]
            pub fn get(&self, pool: Pool) -> &ConcurrencyLimit {
                &self.0[pool as usize].1
            }

            /// The number of requests that each pool has rejected, as figures for the operator.
            #[cfg(target_arch = "wasm32")]
            pub fn shed(&self) -> impl Iterator<Item = $crate::http::traffic::Count> {
                self.each().map(|(name, pool)| (contract::isolates::Figure::SHED, name, pool.rejected()))
            }

            /// All pools with their names in the metrics.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, &ConcurrencyLimit)> + Clone {
                self.0.iter().map(|(name, pool)| (*name, pool))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    const LIMIT: Limit = Limit { permits: 4, per_owner: 3, lease_ms: 1_000 };

    #[test]
    fn a_full_pool_rejects_until_a_permit_is_returned() {
        let pool = ConcurrencyLimit::new(LIMIT);
        let mut permits: Vec<_> = ["a", "b", "c", "d"].iter().map(|owner| pool.acquire(owner, 0).unwrap()).collect();
        let refusal = pool.acquire("e", 0).unwrap_err();
        assert_eq!((refusal.status, refusal.code, refusal.retry_after_s), (503, "unavailable", Some(2)));
        permits.pop();
        let _last = pool.acquire("e", 0).unwrap();
        pool.acquire("f", 0).unwrap_err();
        assert_eq!((pool.in_use(), pool.rejected()), (4, 2));
    }

    #[test]
    fn an_owner_leaves_permits_for_others() {
        let pool = ConcurrencyLimit::new(LIMIT);
        let own: Vec<_> = (0..3).map(|_| pool.acquire("a", 0).unwrap()).collect();
        pool.acquire("a", 0).unwrap_err();
        let _other = pool.acquire("b", 0).unwrap();
        drop(own);
        let _again = pool.acquire("a", 0).unwrap();
    }

    #[test]
    fn a_part_leaves_permits_for_other_parts_and_all_parts_for_other_owners() {
        let pool = ConcurrencyLimit::new(LIMIT);
        let enter = |owner, part| pool.acquire_part(owner, (part, 2), 0);
        let mut first: Vec<_> = (0..2).map(|_| enter("a", "a1").unwrap()).collect();
        enter("a", "a1").unwrap_err();
        let _second = enter("a", "a2").unwrap();
        // Neither part has used up its share, but their owner has.
        enter("a", "a2").unwrap_err();
        enter("a", "a3").unwrap_err();
        let other = enter("b", "b1").unwrap();
        enter("b", "b1").unwrap_err();
        assert_eq!((pool.in_use(), pool.rejected()), (4, 4));
        drop(other);
        first.pop();
        let _again = enter("a", "a3").unwrap();
        enter("a", "a1").unwrap_err();
    }

    #[test]
    fn a_panic_returns_its_permit() {
        let pool = ConcurrencyLimit::new(LIMIT);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _permit = pool.acquire("a", 0).unwrap();
            panic!("in a handler");
        }));
        assert!(panicked.is_err());
        assert_eq!(pool.in_use(), 0);
    }

    #[test]
    fn a_permit_that_is_never_returned_is_freed_after_its_lease() {
        let pool = ConcurrencyLimit::new(LIMIT);
        for _ in 0..4 {
            std::mem::forget(pool.acquire("a", 0).or_else(|_| pool.acquire("b", 0)).unwrap());
        }
        pool.acquire("c", 999).unwrap_err();
        let late = pool.acquire("c", 1_000).unwrap();
        assert_eq!(pool.in_use(), 1);
        // Returning a permit frees no other permit.
        let others: Vec<_> = (0..3).map(|_| pool.acquire("d", 1_000).unwrap()).collect();
        drop(late);
        assert_eq!(pool.in_use(), others.len());
    }
}
