package dev.tonnage.client;

import java.util.ArrayList;
import java.util.List;

/** Calls off one or more calls, from any thread. What the server stored before stays. */
public final class Cancel {
    private final List<Runnable> actions = new ArrayList<>();
    private boolean isCancelled;

    /** One that is not called off yet. */
    public Cancel() {
    }

    /** Calls everything off that was given this object, also later. */
    public void cancel() {
        List<Runnable> now;
        synchronized (this) {
            isCancelled = true;
            now = new ArrayList<>(actions);
            actions.clear();
        }
        now.forEach(Runnable::run);
    }

    /** Whether it was called off. */
    public synchronized boolean isCancelled() {
        return isCancelled;
    }

    /** Runs this when it is called off; at once where it was. */
    void onCancel(Runnable action) {
        synchronized (this) {
            if (!isCancelled) {
                actions.add(action);
                return;
            }
        }
        action.run();
    }

    synchronized void forget(Runnable action) {
        actions.remove(action);
    }
}
