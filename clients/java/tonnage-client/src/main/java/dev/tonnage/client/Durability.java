package dev.tonnage.client;

/** What a write survives once it is acknowledged. */
public enum Durability {
    /** Nothing: it is in the memory of the server. */
    NONE("none"),
    /** A crash of the server's process. */
    WRITE("write"),
    /** A loss of power. */
    FSYNC("fsync");

    private final String word;

    Durability(String word) {
        this.word = word;
    }

    String word() {
        return word;
    }
}
