"""What no note can hold, in state.db: recalls, tombstones, changes, injections."""
