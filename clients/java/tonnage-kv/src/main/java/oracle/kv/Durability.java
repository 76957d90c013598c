package oracle.kv;

/** What a write survives once it is acknowledged. */
public class Durability {
    /** When a node writes to its disk. */
    public enum SyncPolicy {
        /** It waits for the disk. */
        SYNC,
        /** It does not write before it answers. */
        NO_SYNC,
        /** It writes, and does not wait for the disk. */
        WRITE_NO_SYNC
    }

    /** How many copies answer. A server of Tonnage is asked alone, and ignores it. */
    public enum ReplicaAckPolicy {
        /** All of them. */
        ALL,
        /** None of them. */
        NONE,
        /** More than half of them. */
        SIMPLE_MAJORITY
    }

    /** Writes survive a loss of power: `fsync`. */
    public static final Durability COMMIT_SYNC = new Durability(SyncPolicy.SYNC,
            SyncPolicy.NO_SYNC, ReplicaAckPolicy.SIMPLE_MAJORITY);
    /** Writes are in memory: `none`. */
    public static final Durability COMMIT_NO_SYNC = new Durability(SyncPolicy.NO_SYNC,
            SyncPolicy.NO_SYNC, ReplicaAckPolicy.SIMPLE_MAJORITY);
    /** Writes survive a crash of the server: `write`. */
    public static final Durability COMMIT_WRITE_NO_SYNC = new Durability(
            SyncPolicy.WRITE_NO_SYNC, SyncPolicy.WRITE_NO_SYNC, ReplicaAckPolicy.SIMPLE_MAJORITY);

    private final SyncPolicy master;
    private final SyncPolicy replica;
    private final ReplicaAckPolicy acknowledgement;

    /** What a write survives. The first policy counts. */
    public Durability(SyncPolicy masterSync, SyncPolicy replicaSync, ReplicaAckPolicy replicaAck) {
        master = masterSync;
        replica = replicaSync;
        acknowledgement = replicaAck;
    }

    /** The policy that counts. */
    public SyncPolicy getMasterSync() {
        return master;
    }

    /** The policy of copies, which is ignored. */
    public SyncPolicy getReplicaSync() {
        return replica;
    }

    /** How many copies answer, which is ignored. */
    public ReplicaAckPolicy getReplicaAck() {
        return acknowledgement;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Durability && master == ((Durability) other).master
                && replica == ((Durability) other).replica
                && acknowledgement == ((Durability) other).acknowledgement;
    }

    @Override
    public int hashCode() {
        return java.util.Objects.hash(master, replica, acknowledgement);
    }

    @Override
    public String toString() {
        return master + "," + replica + "," + acknowledgement;
    }
}
