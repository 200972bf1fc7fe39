# SPDX-License-Identifier: Apache-2.0
"""Zygote and kernels of a Cupola guest.

The agent starts this file once, as the zygote. It imports what the image's list
names, makes an IPython shell, and from then on forks kernels, each of which
takes executions over a socket of its own. guest-agent/runner.h has the messages.

A kernel is user code's own process. Nothing here defends anything against it:
what the agent must know it learns from Linux. What is done for user code's sake
is that it cannot easily break its own tools: private references to them are
taken before it runs, and behind each execution class Ground puts back what that
took away, while nobody waits.

An execution does what IPython's run_cell() does, without what nobody sees here:
history, events without listeners, the token pass over source that is plain
Python anyway. Under emulation that is the difference between 1 and 10 ms.
"""

import builtins

# Functions below find their built-ins here, not where user code may patch them.
__builtins__ = dict(vars(builtins))

import _locale
import _signal
import _thread
import ast
import binascii
import ctypes
import fcntl
import gc
import importlib.util
import io
import itertools
import json
import linecache
import operator
import os
import select
import signal
import socket
import struct
import sys
import threading
import traceback
import types

# All garbage until the first kernel is forked is garbage of imports.
gc.disable()


class Placeholder(types.ModuleType):
    """Stands for a module that IPython imports and that we have no use for.

    The names of half of what "import IPython" brings are used in annotations
    only, or by functions that nobody calls here. If one is called after all,
    the real module is imported then.
    """

    def __getattr__(self, name):
        if sys.modules.get(self.__name__) is self:
            return object
        return getattr(importlib.import_module(self.__name__), name)


# None of them is imported by "from … import", which would keep the stand-in.
PLACEHOLDERS = (
    "asyncio",
    "asyncio.exceptions",
    "pydoc",
    "sqlite3",
    "stack_data",
)
# IPython does without it; user code may still import it.
ABSENT = ("jedi",)


def open_ipython():
    """Make the package IPython known without running its __init__, which
    imports the terminal program and so prompt_toolkit: half of the zygote's
    start. Whoever asks for a name that is missing then gets it run."""

    def run_init(name):
        del package.__getattr__
        package.__spec__.loader.exec_module(package)
        return getattr(package, name)

    spec = importlib.util.find_spec("IPython")
    package = importlib.util.module_from_spec(spec)
    sys.modules["IPython"] = package
    from IPython.core import getipython, release

    package.get_ipython = getipython.get_ipython
    package.__version__ = release.version
    package.version_info = release.version_info
    package.__getattr__ = run_init


open_ipython()
for _name in PLACEHOLDERS:
    sys.modules[_name] = Placeholder(_name)
for _name in ABSENT:
    sys.modules[_name] = None

from IPython.core import page
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class
from traitlets import Type
from traitlets.config import Config

for _name in PLACEHOLDERS + ABSENT:
    del sys.modules[_name]

CONTROL_FD, RUNNER_FD, PREIMPORT_FD = 3, 4, 5
FD_MAX = 4096
SANDBOX_ID = 1000
HOME = "/home/sandbox"
USER_PACKAGES = "%s/.local/lib/python%d.%d/site-packages" % (
    HOME,
    *sys.version_info[:2],
)

# Room for one descriptor.
ANCILLARY_MAX = socket.CMSG_SPACE(4)

# runner.h
FORK, IMPORTED, HELLO, READY, GO = b"f", b"i", b"h", b"r", b"g"
DISPLAY, ERROR, FINISHED, RUN, MORE = b"d", b"e", b"x", b"c", b"m"
INTERRUPT, ALONE, CROWDED = b"b", b"o", b"n"
RUN_STDIN = 1
DISPLAY_FILE, DISPLAY_NEW = 1, 2
RUN_HEAD = struct.Struct("<cBBBII")
MESSAGE_MAX = 64 * 1024

# wire.h
DISPLAY_DATA_MAX = 192 * 1024
NAME_MAX, VALUE_MAX, TRACEBACK_MAX = 256, 16 * 1024, 64 * 1024

# Sources kept for tracebacks and inspect, in characters.
SOURCES_MAX = 4 * 1024 * 1024
# A result that is kept as a file is cut here.
RESULT_FILE_MAX = 64 * 1024 * 1024

# What is no text, and so always a file; how its base64 begins.
BINARIES = {
    "image/png": ("png", b"iVBO"),
    "image/jpeg": ("jpg", b"/9j/"),
    "image/gif": ("gif", b"R0lG"),
    "image/webp": ("webp", b"UklG"),
    "application/pdf": ("pdf", b"JVBE"),
}
OUTPUT = {"encoding": "utf-8", "errors": "backslashreplace", "newline": None}
SUFFIXES = {
    "text/plain": "txt",
    "text/html": "html",
    "text/markdown": "md",
    "text/latex": "tex",
    "image/svg+xml": "svg",
    "application/json": "json",
    "application/javascript": "js",
}
# pandas takes us for a terminal and would show as much as fits in one. These are
# a notebook's numbers: a table of any size becomes some ten kilobytes.
TABLE_OPTIONS = {
    "display.max_rows": 60,
    "display.min_rows": 10,
    "display.max_columns": 20,
    "display.max_colwidth": 50,
    "display.width": 80,
    "display.show_dimensions": "truncate",
}
# Their repr() is what IPython's pretty printer would say.
PLAIN_TYPES = (int, str, bool, bytes, complex)

TRACE_VARIABLE = "TRACEPARENT"

NO_DESCRIPTOR = "[Errno 24] No descriptor was left for stdin"
NO_NETWORK = (
    "There is no network here, so packages cannot be installed. "
    "Use what is there: help('modules') lists it."
)
NO_RESOLVER = "there is no network here"
# The image's, which tells what there is to install.
PIP = "/usr/local/bin/pip"



def private(module):
    """The same functions where user code, which may patch modules, does not
    look for them."""
    twin = types.ModuleType(module.__name__)
    vars(twin).update(vars(module))
    return twin


fcntl, gc, io, os, signal = map(private, (fcntl, gc, io, os, signal))
json, linecache, socket, struct, traceback = map(
    private, (json, linecache, socket, struct, traceback)
)
type_name = type.__dict__["__name__"].__get__
SYS = vars(sys)

# Of the C library, since Python's decodes each character of the answer by itself.
ask_locale = ctypes.PyDLL(None).setlocale
ask_locale.restype = ctypes.c_char_p


def cut(text, size):
    """Leave out the middle of a text that is too long, and say so."""
    if len(text) <= size:
        return text
    half = size // 2 - 40
    gone = len(text) - 2 * half
    return f"{text[:half]}\n... [{gone} characters left out] ...\n{text[-half:]}"


def encode(text, size):
    """UTF-8 of at most size bytes."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > size:
        data = data[:size].decode("utf-8", "ignore").encode()
    return data


class Watch:
    """Knows whether a dictionary may have changed since it was last asked.

    To put 400 modules back where they are takes longer under emulation than most
    executions do. From Python 3.12 on it tells of changes itself; before that
    nobody knows, so all of them may have. What it calls is no Python code, in
    which an interrupt could be raised and lost, but a counter.
    """

    # It is called with four arguments, of which none is of use.
    COUNTER = ctypes.PYFUNCTYPE(ctypes.c_int)

    def __init__(self, watched):
        self.count = itertools.count().__next__
        self.expected = -1
        self.is_told = False
        add = getattr(ctypes.pythonapi, "PyDict_AddWatcher", None)
        if add is None:
            return
        # Python goes on to call it: it must live.
        self.callback = self.COUNTER(self.count)
        number = add(self.callback)
        if number >= 0:
            watch = ctypes.pythonapi.PyDict_Watch
            self.is_told = watch(number, ctypes.py_object(watched)) == 0

    def has_changed(self):
        counted = self.count()
        changed = counted != self.expected or not self.is_told
        self.expected = counted + 1
        return changed


class Kept:
    """Values of a dictionary that are to stay there, and the same.

    That they are is seen in C, without a line of Python for each. What claims to
    be equal to whatever it is compared with is taken for it.
    """

    def __init__(self, where, names):
        self.names = names
        self.get = operator.itemgetter(*names)
        self.values = self.get(where)

    def are_in(self, where):
        try:
            return self.get(where) == self.values
        except Exception:
            # One is gone, or cannot be compared.
            return False


class Ground:
    """What every execution may count on, whatever the one before it did.

    It is surveyed when the kernel has become the user's, and restored behind
    each execution. What user code added, in a namespace or on a path, is its
    state and stays; what it took away or replaced comes back. What Linux allows
    the process is the agent's part, in bounds.c. A niceness stays until the
    kernel is replaced.
    """

    HOOKS = (
        "displayhook",
        "excepthook",
        "unraisablehook",
        "breakpointhook",
        "path_importer_cache",
    )
    LISTS = ("path", "meta_path", "path_hooks")
    SHELL = (
        "builtin_trap",
        "display_formatter",
        "display_pub",
        "displayhook",
        "events",
        "input_transformer_manager",
    )

    def __init__(self, data_dir):
        self.data_dir = data_dir
        self.builtins = dict(vars(builtins))
        self.builtins_watch = Watch(vars(builtins))
        self.modules = sys.modules
        self.loaded = dict(sys.modules)
        self.modules_watch = Watch(self.modules)
        self.hooks = Kept(vars(sys), self.HOOKS)
        self.lists = Kept(vars(sys), self.LISTS)
        self.entries = tuple(map(list, self.lists.values))
        self.thread_hook = threading.excepthook
        self.depth = sys.getrecursionlimit()
        self.switch_interval = sys.getswitchinterval()
        self.gc_threshold = gc.get_threshold()
        self.locale = ask_locale(_locale.LC_ALL, None)
        self.signals = [
            number
            for number in _signal.valid_signals()
            # SIGINT is the kernel's; None are the C library's own.
            if number != signal.SIGINT and _signal.getsignal(number) is not None
        ]
        self.handlers = [_signal.getsignal(number) for number in self.signals]
        kept = {name: getattr(shell, name) for name in self.SHELL}
        # Where getattr() finds most of them, by a longer way.
        traits = [name for name in kept if name in shell._trait_values]
        self.shell_traits = Kept(shell._trait_values, traits)
        self.shell_own = {
            name: value for name, value in kept.items() if name not in traits
        }
        self.steps = (
            # First, since a handler could undo the rest.
            self.restore_signals,
            self.restore_interpreter,
            self.restore_builtins,
            self.restore_modules,
            self.restore_hooks,
            self.restore_lists,
            self.restore_shell,
            self.restore_locale,
            self.restore_directory,
            self.restore_loop,
            self.forget_figures,
        )

    def restore(self):
        for step in self.steps:
            try:
                step()
            except Exception:
                # What cannot be had back hurts user code only, which put it
                # out of reach; the rest can be.
                pass

    def restore_builtins(self):
        if self.builtins_watch.has_changed():
            vars(builtins).update(self.builtins)

    def restore_modules(self):
        sys.modules = self.modules
        if self.modules_watch.has_changed():
            self.modules.update(self.loaded)

    def restore_signals(self):
        """Neither a handler nor a signal on its way outlives its execution."""
        # That of real time, by the shortest way.
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number in _signal.sigpending():
            if number != signal.SIGINT:
                _signal.signal(number, _signal.SIG_IGN)
        # In C, as long as all are what they were.
        if list(map(_signal.getsignal, self.signals)) != self.handlers:
            for number, handler in zip(self.signals, self.handlers):
                if _signal.getsignal(number) is not handler:
                    _signal.signal(number, handler)
        _signal.set_wakeup_fd(-1)
        _signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def restore_interpreter(self):
        sys.settrace(None)
        sys.setprofile(None)
        # A deeper stack is wanted; one too shallow is good for nothing.
        if sys.getrecursionlimit() < self.depth:
            sys.setrecursionlimit(self.depth)
        sys.setswitchinterval(self.switch_interval)
        gc.set_threshold(*self.gc_threshold)
        gc.set_debug(0)
        gc.enable()

    def restore_hooks(self):
        if not self.hooks.are_in(SYS):
            SYS.update(zip(self.hooks.names, self.hooks.values))
        threading.excepthook = self.thread_hook

    def restore_lists(self):
        if self.lists.are_in(SYS) and self.lists.values == self.entries:
            return
        for name, kept, entries in zip(
            self.lists.names, self.lists.values, self.entries
        ):
            current = SYS.get(name)
            if type(current) is not list:
                SYS[name] = current = kept
            for entry in entries:
                if entry not in current:
                    current.append(entry)

    def restore_shell(self):
        kept = self.shell_traits
        if not kept.are_in(shell._trait_values):
            for name, value in zip(kept.names, kept.values):
                setattr(shell, name, value)
        vars(shell).update(self.shell_own)
        shell.user_global_ns["__builtins__"] = builtins

    def restore_locale(self):
        if ask_locale(_locale.LC_ALL, None) != self.locale:
            _locale.setlocale(_locale.LC_ALL, self.locale.decode())

    def restore_directory(self):
        os.umask(0o022)
        # One that is gone, or where no file can be made, is none to work in.
        try:
            usable = os.getcwd() == self.data_dir or os.access(
                ".", os.W_OK | os.X_OK
            )
        except OSError:
            usable = False
        if not usable:
            os.chdir(self.data_dir)

    def restore_loop(self):
        """IPython makes another asyncio loop for one that was closed, but not
        for one that was told to stop."""
        loop = self.modules["IPython.core.async_helpers"]._asyncio_event_loop
        if loop is not None:
            loop._stopping = False

    def forget_figures(self):
        """An interrupt kept them from being shown, or a thread drew them."""
        pylab = self.modules.get("matplotlib._pylab_helpers")
        if pylab and pylab.Gcf.figs:
            pylab.Gcf.destroy_all()


class Output(io.TextIOWrapper):
    """What print() writes to."""

    def __init__(self, fd):
        raw = io.FileIO(fd, "w", closefd=False)
        super().__init__(io.BufferedWriter(raw), line_buffering=True, **OUTPUT)
        self.mode = "w"
        self.is_changed = False

    def reconfigure(self, **options):
        self.is_changed = True
        super().reconfigure(**options)

    def restore(self):
        """User code may have asked for another encoding, which was for its own
        output."""
        if self.is_changed:
            super().reconfigure(line_buffering=True, **OUTPUT)
        self.is_changed = False


class Kernel:
    """What user code's process does besides running user code."""

    def __init__(self, data_dir):
        self.data_dir = data_dir
        self.send = self.recv = self.recvmsg = self.poll = None
        self.pid = os.getpid()
        self.count = 0
        self.stopped_early = self.interrupted = False
        self.ground = None
        self.settled = False
        self.exec_id = self.trace = ""
        self.trace_told = False
        self.figures = self.files = 0
        self.flags = 0
        self.sources = {}
        self.sources_size = 0
        self.kept = {}
        self.stdin = None
        self.stdin_given = False
        self.fflush = ctypes.CDLL(None).fflush
        self.stdout, self.stderr = sys.stdout, sys.stderr

    # Results

    def publish(self, bundle):
        """Tell one result, in each of its representations."""
        new = DISPLAY_NEW
        for mime, value in bundle.items():
            try:
                flags, data = self.represent(mime, value)
            except Exception as error:
                # The other forms are worth having without it.
                print(f"cannot show {mime}: {error}", file=sys.stderr)
                continue
            if data is None:
                continue
            name = mime.encode("ascii", "replace")[:127]
            self.send(DISPLAY + bytes((flags | new, len(name))) + name + data)
            new = 0

    def represent(self, mime, value):
        """Flags and bytes of an item; no bytes if it cannot be told."""
        if mime in BINARIES:
            return self.keep_binary(mime, value)
        if isinstance(value, (dict, list)):
            value = json.dumps(value, default=str)
        if isinstance(value, str):
            value = value.encode("utf-8", "backslashreplace")
        if not isinstance(value, bytes):
            return 0, None
        if len(value) <= DISPLAY_DATA_MAX:
            return 0, value
        self.files += 1
        suffix = SUFFIXES.get(mime, "bin")
        name = f"display-{self.exec_id}-{self.files}.{suffix}"
        return self.keep_file(name, value[:RESULT_FILE_MAX])

    def keep_binary(self, mime, value):
        suffix, begin = BINARIES[mime]
        if isinstance(value, str):
            value = value.lstrip().encode("utf-8", "replace")
            if value[:4] != begin:
                raise ValueError("it is not base64 of that type")
        if value[:4] == begin:
            value = binascii.a2b_base64(value)
        if len(value) > RESULT_FILE_MAX:
            raise ValueError(f"it has {len(value)} bytes")
        self.figures += 1
        name = f"figure-{self.exec_id}-{self.figures}.{suffix}"
        return self.keep_file(name, value)

    def keep_file(self, name, data):
        try:
            with open(os.path.join(self.data_dir, name), "wb") as file:
                file.write(data)
        except OSError as error:
            print(f"cannot keep {name}: {error.strerror}", file=sys.stderr)
            return 0, None
        return DISPLAY_FILE, name.encode()

    def show(self, value):
        """Display the value of the last expression."""
        ns = shell.user_ns
        if value is None:
            return
        if type(value) in PLAIN_TYPES:
            bundle = {"text/plain": repr(value)}
        else:
            bundle, _ = shell.display_formatter.format(value)
        ns["___"], ns["__"], ns["_"] = ns.get("__"), ns.get("_"), value
        self.publish(bundle)

    def show_figures(self):
        """Figures that were drawn and not shown, whatever the backend."""
        pylab = sys.modules.get("matplotlib._pylab_helpers")
        if pylab is None:
            return
        managers = pylab.Gcf.get_all_fig_managers()
        if not managers:
            return
        try:
            for manager in managers:
                self.publish(
                    shell.display_formatter.format(manager.canvas.figure)[0]
                )
        finally:
            # One that cannot be drawn must not come back each time.
            pylab.Gcf.destroy_all()

    # Errors

    def tell_error(self, name, value, text):
        if os.getpid() != self.pid:
            # A fork that ran on: not its parent's failure.
            print(text, file=sys.stderr)
            return
        name = encode(name, NAME_MAX)
        value = encode(cut(value, VALUE_MAX), 2 * VALUE_MAX)
        text = encode(cut(text, TRACEBACK_MAX), 2 * TRACEBACK_MAX)
        head = struct.pack("<HI", len(name), len(value))
        self.send(ERROR + head + name + value + text)

    def tell_exception(self, error):
        name = type_name(type(error))
        value = f"<{name} that cannot be printed>"
        text = f"{name}: {value}\n"
        try:
            value, text = self.describe(error)
        except BaseException:
            # Interrupted, or too broken to be described.
            pass
        self.tell_error(name, value, text)

    def describe(self, error):
        """Value and traceback. Both may call user code."""
        kind = type(error)
        # Not kind.__name__: a metaclass may say anything there.
        name = type_name(kind)
        try:
            value = str(error)
        except Exception:
            value = f"<{name} that cannot be printed>"
        try:
            text = self.format_exception(kind, error)
        except Exception:
            text = f"{name}: {value}\n"
        return value, text

    def format_exception(self, kind, error):
        """A plain traceback of user code's frames."""
        if type_name(kind) == "UsageError":
            return f"UsageError: {error}\n"
        trace = error.__traceback__
        while trace and trace.tb_frame.f_globals is globals():
            trace = trace.tb_next
        last = trace
        while last and last.tb_next:
            # Where on_interrupt() raised, or display() failed.
            if last.tb_next.tb_frame.f_globals is globals():
                last.tb_next = None
            last = last.tb_next
        return "".join(traceback.format_exception(kind, error, trace))

    # Source

    def remember(self, name, text):
        """For tracebacks; the oldest make way."""
        lines = text.splitlines(True)
        linecache.cache[name] = (len(text), None, lines, name)
        self.sources[name] = len(text)
        self.sources_size += len(text)
        while self.sources_size > SOURCES_MAX and len(self.sources) > 1:
            oldest = next(iter(self.sources))
            self.sources_size -= self.sources.pop(oldest)
            linecache.cache.pop(oldest, None)

    def compile(self, node, name, mode):
        flags = self.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        return compile(node, name, mode, flags, True)

    def parse(self, text, name):
        """A module's tree; magics are looked for in what is not Python."""
        flags = self.flags | ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        try:
            tree = compile(text, name, "exec", flags, True)
        except SyntaxError:
            cell = shell.transform_cell(text)
            if cell.rstrip("\n") == text.rstrip("\n"):
                raise
            self.remember(name, cell)
            return compile(cell, name, "exec", flags, True)
        body = tree.body
        if len(body) == 1 and type(body[0]) is ast.Expr:
            word = body[0].value
            if type(word) is ast.Name and self.is_magic(word.id):
                text = shell.transform_cell("%" + word.id)
                tree = compile(text, name, "exec", flags, True)
        return tree

    def compile_call(self, text, name):
        """Code of a single call, which needs no tree to find what is to be shown:
        half the way. None if it is something else, or may be."""
        called, opened, rest = text.rstrip().partition("(")
        # One line, of a name and what is in parentheses behind it.
        if (
            not opened
            or not called.replace(".", "_").isidentifier()
            or "\n" in rest
            or rest[-1:] != ")"
            or shell._trait_values.get("ast_transformers")
        ):
            return None
        try:
            return self.compile(text, name, "eval")
        except SyntaxError:
            return None

    def is_magic(self, word):
        """A lone word that is nobody's name, as in "pwd"."""
        return (
            word not in shell.user_ns
            and word not in vars(builtins)
            and shell.find_line_magic(word) is not None
        )

    # Running

    def evaluate(self, code):
        result = eval(code, shell.user_global_ns, shell.user_ns)
        if code.co_flags & 0x80:  # CO_COROUTINE: there was an await
            from IPython.core.async_helpers import _asyncio_runner

            return _asyncio_runner(result)
        return result

    def run_tree(self, tree, name, quiet):
        """Run a module, and display the value of its last expression."""
        body, last = tree.body, None
        if shell.ast_transformers:
            body = shell.transform_ast(tree).body
        if body and type(body[-1]) is ast.Expr and not quiet:
            last = ast.Expression(body.pop().value)
        if body:
            code = self.compile(tree, name, "exec")
            # "from __future__" holds for later executions too.
            self.flags |= code.co_flags & FUTURE_FLAGS
            self.evaluate(code)
        if last:
            self.show(self.evaluate(self.compile(last, name, "eval")))

    def run_cell(self, text, count):
        name = f"<cell {count}>"
        self.stop_if_told()
        # Nobody observes this trait, and to look for observers takes its time.
        shell._trait_values["execution_count"] = count
        self.remember(name, text)
        call = self.compile_call(text, name)
        tree = None if call else self.parse(text, name)
        quiet = text.rstrip().endswith(";")
        # So that a warning is told in each execution that earns it.
        shell.user_ns.pop("__warningregistry__", None)
        self.trigger("pre_execute")
        try:
            if call:
                self.show(self.evaluate(call))
            else:
                self.run_tree(tree, name, quiet)
        finally:
            self.trigger("post_execute")
            self.show_figures()
            self.flush_replaced()

    def trigger(self, event):
        """Call user code's callbacks. They live on, so that a failure of theirs
        must not become that of every execution to come; of interrupts, which
        are none of theirs, IPython swallows some."""
        if not shell.events.callbacks.get(event):
            return
        self.interrupted = False
        try:
            shell.events.trigger(event)
        except BaseException:
            if not self.interrupted:
                traceback.print_exc()
        if self.interrupted:
            raise KeyboardInterrupt

    def run_guarded(self, text, count):
        """Return: whether it failed."""
        try:
            self.run_cell(text, count)
            return False
        except SystemExit as error:
            if error.code in (None, 0):
                return False
            self.tell_exception(error)
        except BaseException as error:
            self.tell_exception(error)
        return True

    # The process

    def keep_descriptors(self):
        """Have what is behind 0 to 2 a second time, out of the way."""
        copy, above = fcntl.F_DUPFD_CLOEXEC, FD_MAX - 16
        self.kept = {fd: fcntl.fcntl(fd, copy, above) for fd in (0, 1, 2)}

    def restore_descriptors(self):
        """Put back what user code closed, or pointed elsewhere."""
        for fd, kept in self.kept.items():
            os.dup2(kept, fd)

    def open_output(self):
        self.stdout, self.stderr = Output(1), Output(2)

    def open_stdin(self, fd):
        """What input() reads: the caller's bytes, then end of file. Without
        any it is /dev/null, as restore_descriptors() left it."""
        given = fd is not None
        if given:
            os.dup2(fd, 0)
            os.close(fd)
        # What is read from /dev/null leaves nothing behind.
        if given or self.stdin_given or not self.stdin or self.stdin.closed:
            options = {"encoding": "utf-8", "errors": "replace"}
            self.stdin = open(0, closefd=False, **options)
            sys.stdin = sys.__stdin__ = self.stdin
        self.stdin_given = given

    def tell_trace(self):
        """Where OpenTelemetry looks for it, and all that user code starts."""
        try:
            if self.trace:
                self.trace_told = True
                os.environ[TRACE_VARIABLE] = self.trace
            elif self.trace_told:
                os.unsetenv(TRACE_VARIABLE)
                os.environ.pop(TRACE_VARIABLE, None)
                self.trace_told = False
        except Exception:
            # User code has taken its environment apart.
            pass

    def prepare(self, stdin):
        if not self.settled:
            self.restore()
        self.settled = False
        self.tell_trace()
        self.open_stdin(stdin)

    def settle(self, alone):
        """Restore what the execution before may have taken away, ahead of the
        next one. Where a thread or process of its is left it has to be done
        again then."""
        try:
            self.restore()
            # One that was begun after a made-up end was not counted.
            self.settled = alone and _thread._count() == 0
        except BaseException:
            # Such as no memory: the next execution tries again, and tells.
            self.settled = False

    def restore(self):
        self.restore_descriptors()
        for stream in (self.stdout, self.stderr):
            stream.restore()
        SYS.update(
            stdin=self.stdin,
            stdout=self.stdout,
            stderr=self.stderr,
            __stdin__=self.stdin,
            __stdout__=self.stdout,
            __stderr__=self.stderr,
        )
        # Whatever Python knows of it: a library may have set it on its own.
        _signal.signal(signal.SIGINT, self.on_interrupt)
        if self.ground:
            self.ground.restore()

    def flush(self):
        try:
            self.stdout.flush()
            self.stderr.flush()
        except BaseException:
            # Closed by user code, the stream or what is below it.
            self.restore_descriptors()
            self.open_output()
        self.fflush(None)

    def flush_replaced(self):
        """User code's own stream may hold back what was printed to it."""
        if SYS.get("stdout") is self.stdout and SYS.get("stderr") is self.stderr:
            return
        for name, own in ("stdout", self.stdout), ("stderr", self.stderr):
            stream = SYS.get(name)
            if stream is own or stream is None:
                continue
            try:
                stream.flush()
            except Exception:
                pass

    # Interrupts: the agent says first which execution is to stop, and then
    # sends the signal. One that comes too early is found by the execution when
    # it begins, one that comes too late by nobody.

    def is_told_to_stop(self):
        """Take what the agent has said since; whether it concerns this one."""
        told = False
        try:
            while data := self.recv(MESSAGE_MAX, socket.MSG_DONTWAIT):
                told |= data == INTERRUPT + struct.pack("<I", self.count)
        except BlockingIOError:
            pass
        return told

    def stop_if_told(self):
        # To ask is a fifth of what it takes to be told by an exception.
        self.stopped_early = bool(self.poll(0)) and self.is_told_to_stop()
        if self.stopped_early:
            raise KeyboardInterrupt

    def on_interrupt(self, signum, frame):
        """Interrupt what calls user code, and nothing else: an exception that is
        raised while an execution is got ready, or told, would leave that half
        done."""
        while frame and frame.f_code not in INTERRUPTIBLE:
            frame = frame.f_back
        if not frame:
            return
        if os.getpid() == self.pid:
            told, early = self.is_told_to_stop(), self.stopped_early
            self.stopped_early = False
            if early and not told:
                return  # has been raised already
        self.interrupted = True
        raise KeyboardInterrupt

    def execute(self, text, count, stdin):
        """Return: whether it failed. Nothing gets out of here."""
        self.count = count
        try:
            self.prepare(stdin)
            return self.run_guarded(text, count)
        except BaseException as error:
            # Such as no memory to say what was wrong.
            self.tell_error(type_name(type(error)), "", "")
            return True
        finally:
            self.flush()

    def receive(self):
        """The next execution: its source, number and stdin."""
        data, ancillary, _, _ = self.recvmsg(MESSAGE_MAX, ANCILLARY_MAX)
        if not data:
            os._exit(0)
        if data in (ALONE, CROWDED):
            self.settle(data == ALONE)
        if data[:1] != RUN:
            return None
        _, flags, id_size, trace_size, count, size = RUN_HEAD.unpack_from(data)
        trace = RUN_HEAD.size + id_size
        start = trace + trace_size
        self.exec_id = data[RUN_HEAD.size : trace].decode("ascii")
        self.trace = data[trace:start].decode("ascii")
        source = data[start:]
        while len(source) < size:
            source += self.recv(MESSAGE_MAX)[1:]
        fd = None
        if flags & RUN_STDIN and ancillary:
            fd = struct.unpack("i", ancillary[0][2])[0]
            if fd <= 2:
                # User code closed that, which is put back.
                fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
        elif flags & RUN_STDIN:
            # Linux dropped it: user code has opened all it may.
            self.tell_error("OSError", NO_DESCRIPTOR, f"OSError: {NO_DESCRIPTOR}\n")
            self.send(FINISHED + struct.pack("<?I", True, count))
            return None
        # Editors put a byte order mark before what they save; so does Python
        # pass over it in a file.
        text = source.decode("utf-8", "replace").removeprefix("\ufeff")
        return text, count, fd

    def serve(self):
        self.settle(True)
        while True:
            cell = self.receive()
            if cell is None:
                continue
            self.figures = self.files = 0
            failed = self.execute(*cell)
            if os.getpid() != self.pid:
                # A fork that ran on to the end of its parent's code.
                os._exit(0)
            # The agent says next who is left, before anything is put back: until
            # it has told of the end, somebody waits.
            self.send(FINISHED + struct.pack("<?I", failed, cell[1]))


INTERRUPTIBLE = (Kernel.run_cell.__code__, Kernel.describe.__code__)

FUTURE_FLAGS = 0
for _name in __import__("__future__").all_feature_names:
    FUTURE_FLAGS |= getattr(__import__("__future__"), _name).compiler_flag


class Publisher(DisplayPublisher):
    """Where display() ends up."""

    def publish(self, data, metadata=None, **kwargs):
        kernel.publish(data)

    def clear_output(self, wait=False):
        pass


class Hook(DisplayHook):
    """sys.displayhook, for code that calls it."""

    def __call__(self, result=None):
        kernel.show(result)


@magics_class
class NoNetwork(Magics):
    @line_magic
    def pip(self, line):
        """Installs from the wheelhouse, or says that there is none."""
        if not os.path.exists(PIP):
            print(NO_NETWORK)
            return
        self.shell.system(f"{PIP} {line}")
        importlib.invalidate_caches()

    @line_magic
    def conda(self, line):
        """There is nothing to install from."""
        print(NO_NETWORK)

    mamba = micromamba = uv = conda


class Shell(InteractiveShell):
    display_pub_class = Type(Publisher)
    displayhook_class = Type(Hook)

    def enable_gui(self, gui=None):
        pass

    def system(self, command):
        """!command: with the kernel's own descriptors."""
        import subprocess

        sys.stdout.flush()
        self.user_ns["_exit_code"] = subprocess.call(
            self.var_expand(command, depth=1),
            shell=True,
            executable="/bin/bash" if os.path.exists("/bin/bash") else None,
        )

    system_piped = system_raw = system

    def ask_exit(self):
        raise SystemExit

    def showtraceback(self, *args, **kwargs):
        """For magics that report an exception and go on."""
        traceback.print_exc()


def figure_png(figure):
    from IPython.core.pylabtools import print_figure

    return print_figure(figure, fmt="png", bbox_inches="tight")


def limit_tables():
    pandas = sys.modules.get("pandas")
    for name, value in TABLE_OPTIONS.items() if pandas else ():
        pandas.set_option(name, value)


def make_shell():
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.xmode = "Plain"
    config.InteractiveShell.cache_size = 0
    made = Shell.instance(config=config)
    made.builtin_trap.activate()
    made.register_magics(NoNetwork)
    # run_cell() does it, which nothing interrupts unseen.
    made.events.unregister("pre_execute", made._clear_warning_registry)
    made.set_hook("show_in_pager", page.as_hook(page.display_page), 99)
    png = made.display_formatter.formatters["image/png"]
    png.for_type_by_name("matplotlib.figure", "Figure", figure_png)
    made.user_ns["exit"] = made.user_ns["quit"] = sys.exit
    return made


def preimport():
    """The image's environment, and what it has the zygote import.

    What is missing in this image will be missed by user code, not here.
    """
    with open(PREIMPORT_FD, encoding="utf-8") as file:
        lines = file.read().splitlines()
    os.environ.update(line.split("=", 1) for line in lines if "=" in line)
    for name in lines:
        if "=" in name or not name:
            continue
        try:
            __import__(name)
        except Exception as error:
            print(f"cannot import {name}: {error}", file=sys.stderr)


def warm_up():
    """Run what every execution runs, so that no kernel is the first to."""
    streams = sys.stdin, sys.stdout, sys.stderr
    null = os.open(os.devnull, os.O_RDWR)
    kernel.send = lambda data: len(data)
    kernel.recv = lambda size, flags: b""
    kernel.poll = lambda timeout: []
    kernel.stdout = kernel.stderr = Output(null)
    for count in range(8):
        kernel.execute("import sys\nsys.maxsize", count, None)
        kernel.execute("[1, 2.5, {'a': None}]", count, None)
    for text in ("1/0", "%time 1", "(", "class A: pass\nA()"):
        kernel.execute(text, 0, None)
    for name in ("A", "sys", "_", "__", "___"):
        shell.user_ns.pop(name, None)
    sys.stdin, sys.stdout, sys.stderr = streams
    # Closed here: no kernel has the descriptor, and would say so on stderr.
    kernel.stdout.close()
    kernel.stdin, kernel.stdout, kernel.stderr = None, sys.stdout, sys.stderr
    kernel.sources.clear()
    kernel.sources_size = 0
    linecache.clearcache()


def drop_capabilities():
    """The two that the zygote has served their purpose."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("<Ii", 0x20080522, 0)
    ambient, clear_all = 47, 4
    libc.prctl(ambient, clear_all, 0, 0, 0)
    if libc.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def become_user():
    os.setresgid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
    os.setresuid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID)
    drop_capabilities()
    os.environ["HOME"] = HOME
    os.chdir(kernel.data_dir)
    # Before the image's packages, as everywhere: pip was told to.
    places = [n for n, path in enumerate(sys.path) if "dist-packages" in path]
    sys.path.insert(places[0] if places else len(sys.path), USER_PACKAGES)
    # Last, so that no file of the user's hides a module.
    sys.path.append(kernel.data_dir)


def new_randomness():
    """Python's own generator is seeded anew in a fork; numpy's is not."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()


def become_kernel(fds):
    os.setsid()
    for fd, target in zip(fds, (CONTROL_FD, 1, 2)):
        os.dup2(fd, target, inheritable=target != CONTROL_FD)
    os.closerange(CONTROL_FD + 1, FD_MAX)
    control = socket.socket(fileno=CONTROL_FD)
    kernel.send, kernel.recv = control.send, control.recv
    kernel.recvmsg = control.recvmsg
    said = select.poll()
    said.register(CONTROL_FD, select.POLLIN)
    kernel.poll = said.poll
    kernel.pid = os.getpid()
    kernel.send(HELLO)
    if kernel.recvmsg(1)[0] != GO:
        os._exit(1)
    become_user()
    new_randomness()
    kernel.keep_descriptors()
    kernel.open_output()
    kernel.ground = Ground(kernel.data_dir)
    kernel.send(READY)
    kernel.serve()


def fork_kernel(fds):
    """Fork twice, so that the agent becomes the kernel's parent."""
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            try:
                become_kernel(fds)
            except BaseException:
                traceback.print_exc()
        os._exit(1)
    os.waitpid(child, 0)
    for fd in fds:
        os.close(fd)


def serve_zygote():
    control = socket.socket(fileno=CONTROL_FD)
    control.send(IMPORTED)
    while True:
        data, fds, _, _ = socket.recv_fds(control, 1, 3)
        if not data:
            return
        if data == FORK and len(fds) == 3:
            fork_kernel(fds)


def explain_resolver():
    """Have whoever looks up a name told why there is none, in the error."""

    def getaddrinfo(*args, **kwargs):
        try:
            return resolve(*args, **kwargs)
        except real.gaierror as error:
            reason = f"{error.strerror}: {NO_RESOLVER}"
            raise real.gaierror(error.errno, reason) from None

    real = sys.modules["socket"]
    resolve = real.getaddrinfo
    real.getaddrinfo = getaddrinfo


# The shell takes the name __main__ for user code: this keeps ours alive.
runner = sys.modules["__main__"]
kernel = Kernel(sys.argv[1])
explain_resolver()
preimport()
limit_tables()
sys.argv = [""]
shell = make_shell()
warm_up()
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.close(RUNNER_FD)
gc.collect()
gc.freeze()
gc.enable()
serve_zygote()
