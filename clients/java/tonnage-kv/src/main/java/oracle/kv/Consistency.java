package oracle.kv;

import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** How fresh what is read must be. */
public abstract class Consistency {
    /** Older states will do. */
    public static final Consistency NONE_REQUIRED = new Named("NONE_REQUIRED");
    /** Everything that was acknowledged before is seen. */
    public static final Consistency ABSOLUTE = new Named("ABSOLUTE");

    Consistency() {
    }

    /** Its name. */
    public abstract String getName();

    @Override
    public String toString() {
        return getName();
    }

    private static final class Named extends Consistency {
        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public String getName() {
            return name;
        }
    }

    /** States of at most an age. */
    public static class Time extends Consistency {
        private final long lagMs;
        private final long timeoutMs;

        /** States that are at most so old. */
        public Time(long permissibleLag, TimeUnit permissibleLagUnit, long timeout,
                TimeUnit timeoutUnit) {
            lagMs = permissibleLagUnit.toMillis(permissibleLag);
            timeoutMs = timeoutUnit.toMillis(timeout);
        }

        /** The age. */
        public long getPermissibleLag(TimeUnit unit) {
            return unit.convert(lagMs, TimeUnit.MILLISECONDS);
        }

        /** The time that a read may wait. */
        public long getTimeout(TimeUnit unit) {
            return unit.convert(timeoutMs, TimeUnit.MILLISECONDS);
        }

        @Override
        public String getName() {
            return "Consistency.Time";
        }
    }

    /** States at least as new as a version. */
    public static class Version extends Consistency {
        private final oracle.kv.Version version;
        private final long timeoutMs;

        /** States at least as new as this version. */
        public Version(oracle.kv.Version version, long timeout, TimeUnit timeoutUnit) {
            this.version = Objects.requireNonNull(version, "version");
            timeoutMs = timeoutUnit.toMillis(timeout);
        }

        /** The version. */
        public oracle.kv.Version getVersion() {
            return version;
        }

        /** The time that a read may wait. */
        public long getTimeout(TimeUnit unit) {
            return unit.convert(timeoutMs, TimeUnit.MILLISECONDS);
        }

        @Override
        public String getName() {
            return "Consistency.Version";
        }
    }
}
