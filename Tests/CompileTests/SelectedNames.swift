// expect: nothing
// What to write where two libraries have one name.
import APIProvider

import struct APIProvider.HTTPHeaders

func headers() -> HTTPHeaders { [:] }

#if compiler(>=6.3)
func others() -> APIProvider::HTTPHeaders { [:] }
#endif
