package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowSchema;
import dev.tonnage.client.arrow.BatchBuilder;

/** Where the entries of a bulk put go, and how they become rows of a batch. */
interface EntryTarget<E> {
    /** The path of the table of an entry; null for pairs. */
    String tableOf(E entry);

    /** The columns that go to a table. */
    ArrowSchema schemaOf(String table);

    /**
     * Adds an entry to a batch.
     *
     * @throws dev.tonnage.client.arrow.ArrowException for an entry that does not fit; the batch is
     *     as before
     */
    void append(BatchBuilder batch, E entry);
}
