package batch

// SchedulerVariables are the names of all variables that ShardAuto reads.
func SchedulerVariables() (names []string) {
	for _, s := range schedulers {
		for _, name := range []string{s.index, s.count, s.first, s.step} {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
