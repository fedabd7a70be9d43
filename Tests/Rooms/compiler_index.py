"""Reads the index that a debug build leaves: which file declares a name, and which names it."""
import collections, ctypes, glob, os, shutil, sys
from ctypes import CFUNCTYPE, byref, c_bool, c_int, c_size_t, c_uint, c_uint64, c_void_p

# The values of <indexstore/indexstore.h>.
DEFINITION, REFERENCE, RECORD = 1 << 1, 1 << 2, 2


class Text(ctypes.Structure):
    _fields_ = [("bytes", c_void_p), ("count", c_size_t)]

    def __str__(self): return ctypes.string_at(self.bytes, self.count).decode(errors="replace")


ForText, ForObject = CFUNCTYPE(c_bool, c_void_p, Text), CFUNCTYPE(c_bool, c_void_p, c_void_p)


class Index:
    """What the compiler has written about each file."""

    def __init__(self, store):
        usr = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swift"))))
        found = glob.glob(f"{usr}/lib/libIndexStore.so") + glob.glob(f"{usr}/lib/libIndexStore.dylib")
        if not found: sys.exit(f"There is no libIndexStore in {usr}/lib.")
        self.library = ctypes.CDLL(found[0])
        self.store = self.call("store_create", c_void_p, store.encode(), byref(c_void_p()))
        if not self.store: sys.exit(f"There is no index in {store}. Run swift build first.")

    def call(self, name, result, *arguments):
        function = getattr(self.library, "indexstore_" + name)
        function.restype = result
        # A handle is an integer here, which would be passed as one of 32 bits.
        return function(*[c_void_p(argument) if isinstance(argument, int) else argument for argument in arguments])

    def each(self, function, handle, callback):
        """Calls `callback` with each object that `function` finds in `handle`."""
        self.call(function, c_bool, handle, c_void_p(), ForObject(lambda _, object: callback(object) or True))

    def records(self, folder):
        """The names of the records of each file in `folder`."""
        units, records = [], collections.defaultdict(set)
        keep = ForText(lambda _, name: units.append(str(name)) or True)
        self.call("store_units_apply_f", c_bool, self.store, c_uint(0), c_void_p(), keep)
        for unit in units:
            reader = self.call("unit_reader_create", c_void_p, self.store, unit.encode(), byref(c_void_p()))
            if not reader: continue
            file = str(self.call("unit_reader_get_main_file", Text, reader))

            def take(dependency):
                if self.call("unit_dependency_get_kind", c_int, dependency) == RECORD:
                    records[file].add(str(self.call("unit_dependency_get_name", Text, dependency)))
            # An earlier build may have left a file that has gone.
            if file.startswith(folder + "/") and os.path.exists(file): self.each("unit_reader_dependencies_apply_f", reader, take)
            self.call("unit_reader_dispose", None, reader)
        return records

    def symbols(self, record):
        """The symbols of a record: (name for the linker, name, roles)."""
        found = []
        reader = self.call("record_reader_create", c_void_p, self.store, record.encode(), byref(c_void_p()))

        def take(occurrence):
            symbol = self.call("occurrence_get_symbol", c_void_p, occurrence)
            found.append((str(self.call("symbol_get_usr", Text, symbol)), str(self.call("symbol_get_name", Text, symbol)),
                          self.call("occurrence_get_roles", c_uint64, occurrence)))
        if reader:
            self.each("record_reader_occurrences_apply_f", reader, take)
            self.call("record_reader_dispose", None, reader)
        return found
