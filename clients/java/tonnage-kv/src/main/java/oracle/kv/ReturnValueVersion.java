package oracle.kv;

/** Takes the pair that a write replaced, deleted, or found in its way. */
public class ReturnValueVersion extends ValueVersion {
    /** What of the pair before is returned. */
    public enum Choice {
        /** Its value. */
        VALUE,
        /** Its version. */
        VERSION,
        /** Both. */
        ALL,
        /** Nothing. */
        NONE
    }

    private final Choice choice;

    /** Asks for these parts. */
    public ReturnValueVersion(Choice returnChoice) {
        choice = returnChoice;
    }

    /** What is asked for. */
    public Choice getReturnChoice() {
        return choice;
    }
}
