"""Evidence kept by its hash: the one room below the doors that has a disk in it.

    places        which store is meant: a folder found upwards, a path, a URL
    shelf         what a store needs of the place it is in: keep, open, list, remove whole files by name
    folder        a shelf in a folder
    bucket        a shelf in an object store, by the extra `[cloud]`
    drafts        bytes that arrive, compressed and hashed on the way to the shelf
    evidence      the store: objects, manifests, run records, and references to them
    compactions   compaction records, and the originals that it takes to undo them
    pruning       which runs and compactions go, and why; then the deed

What stands on a shelf:

    objects/ab12….gz                          raw bytes, gzip, named by the SHA-256 of the raw bytes
    manifests/ab12….json                      an evidence manifest, named by its own SHA-256
    runs/TIME-EVIDENCE-OWN.json               a run record: when, the manifest's digest, its own digest
    compactions/TIME-VIEW-OWN.json            a compaction record: when, the digest of the view before, its own digest

Rules of this room:
- Nothing has its name before it is whole. What a file names is there, and settled, before the file is: objects, then
  the manifest, then the record; they go in the opposite order.
- Everything that is read is hashed and compared with its name.
- A file is never changed. Keeping it again puts the same bytes under the same name, and makes them new again.
"""
