package job

import (
	"context"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/service/id"
)

// Usage sums up jobs. Frames, Duration and Credits are of those that are not
// refunded.
type Usage struct {
	Jobs, Frames int64
	Duration     time.Duration // whole milliseconds
	Credits      int64         // charged
}

func (u *Usage) add(v Usage) {
	u.Jobs, u.Frames, u.Duration, u.Credits = u.Jobs+v.Jobs, u.Frames+v.Frames, u.Duration+v.Duration, u.Credits+v.Credits
}

// DayUsage is the usage of a day.
type DayUsage struct {
	Day time.Time // its beginning, in UTC
	Usage
}

// Usage is what an account submitted on the days from one to another, by all its keys
// and its dashboard, and their sum. It leaves out days without jobs. It does not
// have jobs that are no longer known, see Config.KeepJobs.
func (s *Service) Usage(ctx context.Context, accountID string, from, to time.Time) (days []DayUsage, total Usage, err error) {
	end := to.Add(day)
	rows, err := s.db.QueryContext(ctx, fmt.Sprintf(`SELECT created_at / %d, COUNT(*), CAST(SUM(counts * frame_count) AS BIGINT),
			CAST(SUM(counts * duration_ms) AS BIGINT), CAST(SUM(counts * charged) AS BIGINT)
		FROM (SELECT *, CASE WHEN state IN ('%s', '%s') THEN 0 ELSE 1 END AS counts FROM jobs
			WHERE account_id = $1 AND created_at >= $2 AND created_at < $3 AND id >= $4) j
		GROUP BY 1 ORDER BY 1`, day.Milliseconds(), Failed, Cancelled),
		accountID, from.UnixMilli(), end.UnixMilli(), id.Least(jobPrefix, from.Add(-clockSkew)))
	if err != nil {
		return nil, Usage{}, wrap("usage", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			d          DayUsage
			number, ms int64
		)
		if err := rows.Scan(&number, &d.Jobs, &d.Frames, &ms, &d.Credits); err != nil {
			return nil, Usage{}, wrap("usage", err)
		}
		d.Day, d.Duration = time.UnixMilli(number*day.Milliseconds()).UTC(), time.Duration(ms)*time.Millisecond
		total.add(d.Usage)
		days = append(days, d)
	}
	return days, total, wrap("usage", rows.Err())
}
