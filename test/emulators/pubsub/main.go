// Pub/Sub in memory, for tests where the Cloud SDK's emulator or a Java is missing: Google's own fake, served on a port of 127.0.0.1.
package main

import (
	"log"
	"os"
	"strconv"

	"cloud.google.com/go/pubsub/v2/pstest"
)

func main() {
	port, err := strconv.Atoi(os.Args[len(os.Args)-1])
	if err != nil {
		log.Fatalf("usage: %s PORT", os.Args[0])
	}
	pstest.NewServerWithAddress("127.0.0.1:" + strconv.Itoa(port))
	select {}
}
