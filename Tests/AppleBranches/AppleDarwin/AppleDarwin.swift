// What `import Darwin` gives, as far as Glibc has it otherwise or not at all.
@_exported public import Glibc

package let SOCK_STREAM: Int32 = 1
package let SO_NOSIGPIPE: Int32 = 0x1022
