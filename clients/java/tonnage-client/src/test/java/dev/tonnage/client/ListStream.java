package dev.tonnage.client;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** A stream of given entries, which keeps what it hears. */
class ListStream<E> implements EntryStream<E> {
    final List<E> existing = new ArrayList<>();
    final List<E> failed = new ArrayList<>();
    final List<String> reasons = new ArrayList<>();
    int completions;
    private final String name;
    private final Iterator<E> entries;

    ListStream(String name, Iterable<E> entries) {
        this.name = name;
        this.entries = entries.iterator();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public E getNext() {
        return entries.hasNext() ? entries.next() : null;
    }

    @Override
    public void completed() {
        completions++;
    }

    @Override
    public void keyExists(E entry) {
        existing.add(entry);
    }

    @Override
    public void failed(RuntimeException reason, E entry) {
        failed.add(entry);
        reasons.add(reason.getMessage());
    }
}
